// Files that only their owner may read, written so that a crash leaves the old one or the whole new one.
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Writes a file of mode 0600 at once: after a crash there is the old one or the whole new one. */
export function writePrivate(path: string, content: string | Uint8Array): void {
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
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
