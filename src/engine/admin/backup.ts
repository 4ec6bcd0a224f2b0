// A consistent copy of the store while it runs, in a folder of the data folder.
import { chmodSync, existsSync, mkdirSync } from 'node:fs'
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
  const path = join(folder, name)
  if (existsSync(path))
    throw new Refusal(
      'name_taken',
      `a backup ${name} exists`,
      { name },
      'choose another name, or move the earlier copy',
    )
  const { bytes } = await mail.store.backup(path)
  chmodSync(path, 0o600)
  return { path, bytes }
}
