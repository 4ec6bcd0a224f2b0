// Asking for help does nothing else, wherever it is asked.
import { expect, test } from 'bun:test'
import { canned, ID } from './canned.ts'
import { sh } from './shell.ts'

const COMMANDS: string[][] = [
  ['send', 'codex', 'body'],
  ['reply', ID[0], 'body'],
  ['ack', 'all'],
  ['close', 'all'],
  ['reopen', ID[0]],
  ['contacts', 'alias', 'add', 'a', 'codex'],
  ['rooms', 'leave', 'build'],
  ['admin', 'account', 'remove', 'codex'],
]

test('--help anywhere explains and asks the mailbox nothing', async () => {
  using mailbox = canned({})
  for (const command of COMMANDS)
    for (let at = 0; at <= command.length; at++)
      for (const help of ['--help', '-h']) {
        const argv = [...command.slice(0, at), help, ...command.slice(at)]
        expect({ argv, code: (await sh(argv, mailbox.shell)).code }).toEqual({ argv, code: 0 })
      }
  expect(mailbox.asked).toEqual([])
})
