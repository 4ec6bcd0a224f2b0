// A consistent copy of the store while it runs, in a folder of the data folder.
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { diskRefusal } from '../../store/disk.ts'
import type { AdminAnswer, AdminRequest } from '../../wire/admin.ts'
import { malformed, Refusal } from '../../wire/refusal.ts'
import type { Mail } from '../mail.ts'

/**
 * Writes `backups/<name>` below the data folder, readable by its owner only. Without a name: the time.
 * @throws Refusal `name_taken`: an earlier copy is never overwritten; `store_unavailable`, `bad_permissions`: where it cannot be written
 */
export async function backup(mail: Mail, request: AdminRequest<'backup'>): Promise<AdminAnswer<'backup'>> {
  const name = request.name ?? `mail-${new Date(mail.now()).toISOString().replaceAll(':', '-')}.sqlite`
  if (name.startsWith('.')) throw malformed('name', 'begins with a dot')
  const path = join(mail.dataDir, 'backups', name)
  try {
    return { path, ...(await copyTo(mail, path, name)) }
  } catch (error) {
    throw diskRefusal(error, path) ?? error
  }
}

/** Resolves to what it holds. */
async function copyTo(mail: Mail, path: string, name: string): Promise<Omit<AdminAnswer<'backup'>, 'path'>> {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  clearDrafts(folder)
  checkFree(path, name)
  // under the name of a backup there is a whole one or none, also when the mailbox is killed meanwhile
  const draft = join(folder, `.${process.pid}-${randomBytes(4).toString('hex')}`)
  try {
    const { bytes, messages, deliveries, accounts, epoch } = await mail.store.backup(draft)
    chmodSync(draft, 0o600)
    checkFree(path, name) // another may have been faster
    renameSync(draft, path)
    return { bytes, messages, deliveries, accounts, epoch }
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
