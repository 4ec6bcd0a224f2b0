// Folders and files that only their owner may look into.
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { Refusal } from '../wire/refusal.ts'

/**
 * Makes `path` as a folder of mode 0700, with the folders above it; an existing one must be ours and closed to others.
 * @throws Refusal `bad_permissions`: a folder that is open to others is not changed, others may rely on it
 */
export function privateFolder(path: string): void {
  if (mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(path, 0o700) // whatever the umask
  const { mode, uid } = lstatSync(path)
  if (process.platform === 'win32') return // its access lists, not these bits, say who may read
  if (uid !== process.getuid?.())
    throw new Refusal('bad_permissions', `${path} belongs to another user`, { path }, 'choose a folder of your own')
  if ((mode & 0o77) !== 0)
    throw new Refusal('bad_permissions', `${path} is open to other users`, { path }, `close it: chmod 700 ${path}`)
}

/** Writes a file of mode 0600 at once: after a crash there is the old one or the whole new one. */
export function writePrivate(path: string, content: string | Buffer): void {
  const draft = `${path}.${process.pid}.new`
  rmSync(draft, { force: true })
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeFileSync(file, content)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
  syncFolder(dirname(path))
}

/** A rename is on the disk once its folder is: fsync(2). */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

export const inFolder = (folder: string) => ({
  operatorKey: join(folder, 'operator.key'),
  store: join(folder, 'mail.sqlite'),
  daemon: join(folder, 'daemon.json'),
})
