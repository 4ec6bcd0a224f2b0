// A consistent copy of the store while it runs, in a folder of the data folder.
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { AdminAnswer, AdminRequest } from '../../wire/admin.ts'
import { malformed, Refusal } from '../../wire/refusal.ts'
import type { Mail } from '../mail.ts'

/**
 * Writes `backups/<name>` below the data folder, readable by its owner only. Without a name: the time.
 * @throws Refusal `name_taken`: an earlier copy is never overwritten
 */
export async function backup(mail: Mail, request: AdminRequest<'backup'>): Promise<AdminAnswer<'backup'>> {
  const name = request.name ?? `mail-${new Date(mail.now()).toISOString().replaceAll(':', '-')}.sqlite`
  if (name.startsWith('.')) throw malformed('name', 'begins with a dot')
  const folder = join(mail.dataDir, 'backups')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  clearDrafts(folder)
  const path = join(folder, name)
  checkFree(path, name)
  // under the name of a backup there is a whole one or none, also when the mailbox is killed meanwhile
  const draft = join(folder, `.${process.pid}-${randomBytes(4).toString('hex')}`)
  try {
    const { bytes } = await mail.store.backup(draft)
    chmodSync(draft, 0o600)
    checkFree(path, name) // another may have been faster
    renameSync(draft, path)
    return { path, bytes }
  } finally {
    rmSync(draft, { force: true })
  }
}

function checkFree(path: string, name: string): void {
  if (existsSync(path))
    throw new Refusal(
      'name_taken',
      `a backup ${name} exists`,
      { name },
      'choose another name, or move the earlier copy',
    )
}

/** What a mailbox that was killed had begun: there is one mailbox to a folder, so it is not under way. */
function clearDrafts(folder: string): void {
  for (const name of readdirSync(folder))
    if (name.startsWith('.') && !name.startsWith(`.${process.pid}-`)) rmSync(join(folder, name), { force: true })
}
