// kill -9 of the mailbox by the very program that a wake starts, that is between the wake and its row: what the next start does about it.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Mailbox } from './support/mailbox.ts'

/** Milliseconds after a start in which a wake that is due has come: the wait after a start is three seconds. */
const COME = 8_000

let mailbox: Mailbox
let ben: string
const wakes = (): string[] => {
  const path = join(mailbox.root, 'woken')
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
}

beforeEach(async () => {
  mailbox = await Mailbox.start()
  ben = await mailbox.account('ben')
  const program = join(mailbox.root, 'hook.sh')
  const lines = [
    '#!/bin/sh',
    'cd "$(dirname "$0")" || exit 1',
    'echo woken >> woken',
    '[ -e spare ] || kill -9 $PPID',
    '',
  ]
  writeFileSync(program, lines.join('\n'), { mode: 0o700 })
  mkdirSync(join(mailbox.data, 'wake'), { recursive: true })
  writeFileSync(join(mailbox.data, 'wake', 'ben.json'), JSON.stringify({ letter_hook: [program] }), { mode: 0o600 })
})
afterEach(() => mailbox[Symbol.asyncDispose]())

/** Three letters at once; the wake for them ends the mailbox. */
async function burst(): Promise<void> {
  const letter = (subject: string) => mailbox.post('/mail/send', mailbox.operatorKey, { to: 'ben', subject, body: 'b' })
  const sent = await Promise.all(['one', 'two', 'three'].map(letter))
  expect(sent.map(({ status }) => status)).toEqual([200, 200, 200])
  await mailbox.daemon.exited
  expect(wakes()).toHaveLength(1)
  writeFileSync(join(mailbox.root, 'spare'), '')
}

async function lastWake(): Promise<{ state: string; due: number } | undefined> {
  const { body } = await mailbox.post('/admin/wake/status', mailbox.operatorKey, { account: 'ben' })
  return (body.wakes as { state: string; due: number }[] | undefined)?.[0]
}

test('an agent that has not read is woken once more for the burst, and by no later start', async () => {
  await burst()
  await mailbox.up()
  for (const end = performance.now() + 60_000; wakes().length < 2 && performance.now() < end; ) await Bun.sleep(50)
  for (const end = performance.now() + 60_000; (await lastWake())?.state !== 'queued'; await Bun.sleep(50))
    if (performance.now() > end) throw new Error('the wake was not written down')
  expect(await lastWake()).toMatchObject({ state: 'queued', due: 0 })
  await mailbox.down('SIGKILL')
  await mailbox.up()
  await Bun.sleep(COME)
  expect(wakes()).toHaveLength(2)
}, 180_000)

test('one that has read and closed it meanwhile is not', async () => {
  await burst()
  // a start in which nobody is woken, so that this comes before the next wake for sure
  await mailbox.up({ M4A_WAKE: 'off' })
  const { body } = await mailbox.post('/mail/inbox', ben, {})
  const ids = (body.messages as { message_id: string }[]).map(({ message_id }) => message_id)
  expect(ids).toHaveLength(3)
  // that it was given is kept a moment later; that it has closed it is on the disk with the answer
  for (const message_id of ids) expect((await mailbox.post('/mail/ack', ben, { message_id })).status).toBe(200)
  await mailbox.down('SIGKILL')
  await mailbox.up()
  await Bun.sleep(COME)
  expect(wakes()).toHaveLength(1)
}, 180_000)
