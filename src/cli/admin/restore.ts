// mail4agent admin restore: a backup in the place of the store, while no mailbox runs.
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { inFolder, privateFolder } from '../../door/folders.ts'
import { restore as restoreStore } from '../../store/restore.ts'
import { defineCommand } from '../command.ts'
import { usage } from '../usage.ts'

export const restore = defineCommand({
  name: 'admin restore',
  summary: 'put a backup in the place of the store (stopped)',
  usage: '<file>',
  help: `Puts a backup in the place of the store. The mailbox must not run. The backup is checked first; the store that was there is
kept beside it. Cursors from before are refused afterwards (cursor_expired), so that nobody misses mail silently.

  mail4agent admin restore backups/mail-2026-11-30.sqlite`,
  options: {},
  words: [1, 1],
  async run(context) {
    const file = resolve(context.io.cwd, context.word(0, 'the file'))
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw usage(`there is no file ${JSON.stringify(file)}`)
    const { dataDir } = context.place
    privateFolder(dataDir)
    context.progress('checking and copying the backup')
    const kept = restoreStore(file, inFolder(dataDir).store)
    return context.show({ restored: file, kept }, () =>
      [
        `restored ${file}`,
        ...(kept === null ? [] : [`the store before it is kept in ${kept}`]),
        'next: mail4agent serve',
      ]
        .map((line) => `${line}\n`)
        .join(''),
    )
  },
})
