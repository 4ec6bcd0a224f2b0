// mail4agent admin restore: a backup in the place of the store, while no mailbox runs.
import { resolve } from 'node:path'
import { inFolder, privateFolder } from '../../door/folders.ts'
import { checkBackup, restore as restoreStore } from '../../store/restore.ts'
import type { Verified } from '../../store/verify.ts'
import { Refusal } from '../../wire/refusal.ts'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { mustBeFile } from '../given-path.ts'
import { installerFor } from '../installer.ts'
import { readDaemonFile } from '../place.ts'

export const restore = defineCommand({
  name: 'admin restore',
  summary: 'put a backup in the place of the store (stopped)',
  usage: '[--check] <file>',
  help: `Puts a backup in the place of the store. The mailbox must not run. The backup is checked first, and refused when it is damaged
or of a newer mail4agent; the store that was there is kept beside it. Cursors from before are refused afterwards (cursor_expired),
so that nobody misses mail silently. With --check it only says what the backup holds, also while the mailbox runs.

  mail4agent admin restore --check backups/mail-2026-11-30.sqlite
  mail4agent admin restore backups/mail-2026-11-30.sqlite`,
  options: { check: { help: 'only say what the backup holds' } },
  words: [1, 1],
  async run(context) {
    const file = resolve(context.io.cwd, context.word(0, 'the file'))
    mustBeFile(file, 'name a file that mail4agent admin backup has written')
    if (context.options.check) {
      const found = checkBackup(file)
      return context.show({ file, ...found }, () => `${file}: whole, ${holds(found)}\n`)
    }
    const { dataDir } = context.place
    privateFolder(dataDir)
    context.progress('checking and copying the backup')
    const { kept, ...found } = stoppedRestore(file, dataDir)
    return context.show({ restored: file, kept, ...found }, () =>
      [
        `restored ${file}: ${holds(found)}`,
        ...(kept === null ? [] : [`the store before it is kept in ${kept}`]),
        `next: mail4agent ${isSetUp(context) ? 'start' : 'serve'}`,
      ]
        .map((line) => `${line}\n`)
        .join(''),
    )
  },
})

/** @throws Refusal as `restore`; `already_running` says how to stop it */
function stoppedRestore(file: string, dataDir: string): ReturnType<typeof restoreStore> {
  try {
    return restoreStore(file, inFolder(dataDir).store)
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'already_running') throw error
    const daemon = readDaemonFile(dataDir)
    const who = daemon === null ? 'a mailbox' : `a mailbox (process ${daemon.pid})`
    throw new Refusal(
      'already_running',
      `${who} runs on ${dataDir}`,
      error.facts,
      'stop it first: mail4agent stop; with --check it is only looked at',
    )
  }
}

/** Did `up` start it, as a service or in the background? */
function isSetUp(context: Context): boolean {
  const { background, service } = installerFor(context).record
  return background !== null || service
}

const holds = ({ messages, accounts }: Verified): string => `${messages} letters, ${accounts} accounts`
