// mail4agent admin backup: a consistent copy of the store, while it runs.
import { chmodSync, constants, copyFileSync, existsSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { diskRefusal } from '../../store/disk.ts'
import { checkBackup } from '../../store/restore.ts'
import { defineCommand } from '../command.ts'
import { mustTakeFile, systemRefusal } from '../given-path.ts'
import { usage } from '../usage.ts'

export const backup = defineCommand({
  name: 'admin backup',
  summary: 'copy the store while it runs',
  usage: '[<file>]',
  help: `Writes a consistent copy of the store, readable by you only: into backups/ of the data folder, or to <file>. It holds all mail
that was acknowledged before it began, and the digests of the tokens, not the tokens. It is checked before it gets its name:
whole, of this store, no letter missing. An existing file is never overwritten.

  mail4agent admin backup
  mail4agent admin backup /mnt/usb/mail-2026-11-30.sqlite`,
  options: {},
  words: [0, 1],
  async run(context) {
    const word = context.words[0]
    const target = word === undefined ? null : resolve(context.io.cwd, word)
    if (target !== null && existsSync(target))
      throw usage(`${JSON.stringify(target)} exists`, 'choose another file; a backup is never overwritten')
    if (target !== null) mustTakeFile(target)
    const client = await context.operator()
    context.progress('copying the store')
    // The size decides how long it takes; there is no other end to wait for.
    const answer = await client.admin('backup', {}, { timeoutMs: 24 * 3_600_000 })
    if (target !== null) {
      try {
        copyFileSync(answer.path, target, constants.COPYFILE_EXCL)
        chmodSync(target, 0o600)
        checkBackup(target) // the disk that it went to may be another
      } catch (error) {
        throw diskRefusal(error, target, 'choose another file') ?? systemRefusal(error, target) ?? error
      } finally {
        rmSync(answer.path, { force: true })
      }
    }
    const path = target ?? answer.path
    return context.show(
      { ...answer, path },
      () => `${path} (${answer.bytes} bytes, ${answer.messages} letters, ${answer.accounts} accounts; checked)\n`,
    )
  },
})
