// Other programs' files, read and written with care: links are followed and kept, modes too, and a file is old or new, never half.
import { createHash, randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Damaged } from './edit/damaged.ts'

/** A file as it was found. */
export type Seen = {
  /** Where it really lies, links followed. */
  target: string
  /** Null: there is none. */
  bytes: Buffer | null
  mode: number
  /** Whose it is; null for a file that is to be made. */
  owner: { uid: number; gid: number } | null
}

/** Files that we make are for their owner alone; clients write theirs so, or do not mind. */
const NEW_MODE = 0o600
const MOST_LINKS = 40

/** Configurations are read whole and compared; one of this size is something else. */
const LARGEST = 64 * 1_048_576

/** Raised for what is no file with a text: a pipe would never end, a device neither. Its code is said like one of the system. */
export class NoPlainFile extends Error {
  constructor(readonly code: string) {
    super(code)
  }
}

/** @throws the system's error for what cannot be read; NoPlainFile */
export function look(path: string): Seen {
  const target = targetOf(path)
  return plainFile(target) ?? { target, bytes: null, mode: NEW_MODE, owner: null }
}

/** Opened without waiting for a writer of a pipe: open(2). Null: there is none. */
function plainFile(target: string): Seen | null {
  const file = opened(target)
  if (file === null) return null
  try {
    const found = fstatSync(file)
    if (!found.isFile()) throw new NoPlainFile('no plain file')
    if (found.size > LARGEST) throw new NoPlainFile(`larger than ${LARGEST} bytes`)
    const { mode, uid, gid } = found
    return { target, bytes: readFileSync(file), mode: mode & 0o7777, owner: { uid, gid } }
  } finally {
    closeSync(file)
  }
}

function opened(target: string): number | null {
  try {
    return openSync(target, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw code === 'ENXIO' ? new NoPlainFile('no plain file') : error // a socket
  }
}

/** The file behind links, also one that does not exist yet: the link is kept and what it points to is made. */
function targetOf(path: string): string {
  let at = path
  for (let links = 0; links < MOST_LINKS; links++) {
    const found = lstatSync(at, { throwIfNoEntry: false })
    if (!found) return at
    if (!found.isSymbolicLink()) return realpathSync(at)
    at = resolve(dirname(at), readlinkSync(at))
  }
  return at
}

/**
 * The text of a file; that of a missing one is empty. A mark in front stays part of it.
 * @throws Damaged when it is not UTF-8: what cannot be read exactly cannot be written back exactly
 */
export function textOf(bytes: Buffer | null): string {
  if (bytes === null) return ''
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Damaged(1, 'it is not UTF-8')
  }
}

export const digestOf = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

/** Raised when a file changed between reading and writing: its client is at work. */
export class ChangedMeanwhile extends Error {}

/**
 * Replaces the file, in one step and beside it, with its mode. `seen` is what it was made from.
 * @throws ChangedMeanwhile, and nothing is written then
 */
export function replace({ target, bytes, mode, owner }: Seen, content: Buffer | string): void {
  const draft = join(dirname(target), `.mail4agent-${randomUUID()}`)
  const file = openSync(draft, 'wx', NEW_MODE)
  try {
    try {
      const data = Buffer.from(content)
      for (let at = 0; at < data.length; ) at += writeSync(file, data, at)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    if (owner && process.getuid?.() === 0) chownSync(draft, owner.uid, owner.gid)
    chmodSync(draft, mode)
    checkUnchanged(target, bytes)
    renameSync(draft, target)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** Removes a file that is still what was seen. @throws ChangedMeanwhile */
export function remove({ target, bytes }: Seen): void {
  checkUnchanged(target, bytes)
  rmSync(target, { force: true })
}

function checkUnchanged(target: string, bytes: Buffer | null): void {
  const now = plainFile(target)?.bytes ?? null
  if (now === bytes || (now !== null && bytes !== null && now.equals(bytes))) return
  throw new ChangedMeanwhile()
}

/** The folders that are missing for `path`, outermost first. */
export function missingFolders(path: string): string[] {
  const missing: string[] = []
  for (let folder = dirname(path); !existsSync(folder); folder = dirname(folder)) missing.unshift(folder)
  return missing
}

export const makeFolders = (folders: readonly string[]): void => {
  for (const folder of folders) mkdirSync(folder, { recursive: true, mode: 0o700 })
}

/** Removes folders that we made, innermost first, as far as nothing else has come to lie in them. */
export function removeFolders(folders: readonly string[]): void {
  for (const folder of [...folders].reverse()) {
    try {
      rmdirSync(folder)
    } catch {
      return // somebody uses it
    }
  }
}
