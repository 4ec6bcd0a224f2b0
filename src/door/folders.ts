// Folders and files that only their owner may look into.
import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { diskRefusal } from '../store/disk.ts'
import { Refusal } from '../wire/refusal.ts'

export { syncFolder, writePrivate } from '../store/private-file.ts'

/**
 * Makes `path` as a folder of mode 0700, with the folders above it; an existing one must be ours and closed to others, where
 * a symbolic link counts as what it leads to. `option` is how another folder is chosen.
 * @throws Refusal `bad_permissions`: a folder that is open to others is not changed, others may rely on it; `usage`: no folder
 */
export function privateFolder(path: string, option = '--data-dir'): void {
  const another = `choose another folder with ${option}`
  try {
    if (mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(path, 0o700) // whatever the umask
  } catch (error) {
    if (!isNoFolder(error)) throw diskRefusal(error, path, another) ?? error
    throw new Refusal('usage', `${path} is no folder, and none can be made there`, { path }, another)
  }
  const { mode, uid } = statSync(path)
  if (process.platform === 'win32') return // its access lists, not these bits, say who may read
  if (uid !== process.getuid?.())
    throw new Refusal('bad_permissions', `${path} belongs to another user`, { path }, another)
  if ((mode & 0o77) !== 0)
    throw new Refusal(
      'bad_permissions',
      `${path} is open to other users`,
      { path },
      isOfMailbox(path) ? `close it: chmod 700 ${path}` : `${another}; one that is not there yet is made as it must be`,
    )
}

/** Only then is closing it good advice: other programs may live in other folders. */
const isOfMailbox = (path: string): boolean =>
  basename(path) === 'mail4agent' || existsSync(inFolder(path).store) || existsSync(inFolder(path).operatorKey)

/** A file, or a link that leads nowhere, is in the way. */
const isNoFolder = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['EEXIST', 'ENOTDIR', 'ENOENT', 'ELOOP'].includes(String(error.code))

let holders = 0
let before = 0

/**
 * From now on this process makes files that only their owner may look into, also those that SQLite makes beside a database;
 * until the function that is returned is called. Several at once: until the last of them is.
 */
export function privateFiles(): () => void {
  if (holders++ === 0) before = process.umask(0o077)
  let held = true
  return () => {
    if (held && --holders === 0) process.umask(before)
    held = false
  }
}

export const inFolder = (folder: string) => ({
  operatorKey: join(folder, 'operator.key'),
  store: join(folder, 'mail.sqlite'),
  daemon: join(folder, 'daemon.json'),
})
