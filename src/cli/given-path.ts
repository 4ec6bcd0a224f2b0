// Paths that a person gave: what is wrong with one is plain input, said with the folder or file that it is about, and no fault of ours.
import { accessSync, constants, statSync } from 'node:fs'
import { dirname, resolve, sep } from 'node:path'
import { Refusal } from '../wire/refusal.ts'
import { usage } from './usage.ts'

const ANOTHER = 'choose another path'

/** @throws Refusal `usage`, `bad_permissions`: it is no regular file that we may read */
export function mustBeFile(path: string, hint = ANOTHER): void {
  look(path, hint, () => {
    const found = statSync(path)
    if (found.isDirectory()) throw usage(`${quoted(path)} is a folder, not a file`, hint)
    if (!found.isFile()) throw usage(`${quoted(path)} is no regular file`, hint)
    accessSync(path, constants.R_OK)
  })
}

/** @throws Refusal `usage`, `bad_permissions`: it is no folder that we may read */
export function mustBeFolder(path: string, hint = ANOTHER): void {
  look(path, hint, () => {
    if (!statSync(path).isDirectory()) throw usage(`${quoted(path)} is no folder`, hint)
    accessSync(path, constants.R_OK | constants.X_OK)
  })
}

/** Can a new file be made there? @throws Refusal `usage`, `bad_permissions` naming the folder */
export function mustTakeFile(path: string, hint = ANOTHER): void {
  const folder = dirname(path)
  // of a folder that is missing the outermost part is named
  look(statSync(folder, { throwIfNoEntry: false }) ? folder : path, hint, () => {
    if (!statSync(folder).isDirectory()) throw usage(`${quoted(folder)} is no folder`, hint)
    accessSync(folder, constants.W_OK | constants.X_OK)
  })
}

function look(path: string, hint: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    throw systemRefusal(error, path, hint) ?? error
  }
}

/** What the system said of `path`, as a refusal; null when `error` is no system error. */
export function systemRefusal(error: unknown, path: string, hint = ANOTHER): Refusal | null {
  if (!(error instanceof Error) || error instanceof Refusal || !('syscall' in error) || !('code' in error)) return null
  switch (error.code) {
    case 'ENOENT':
      return missing(path, hint)
    case 'EISDIR':
      return usage(`${quoted(path)} is a folder, not a file`, hint)
    case 'ENOTDIR':
      return usage(`${quoted(path)} leads through something that is no folder`, hint)
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new Refusal('bad_permissions', `${quoted(path)}: ${reasonOf(error)}`, { path }, hint)
    default:
      return usage(`${quoted(path)}: ${reasonOf(error)}`, hint)
  }
}

/** Names the outermost part that is not there. */
function missing(path: string, hint: string): Refusal {
  let at = path
  while (dirname(at) !== at && !statSync(dirname(at), { throwIfNoEntry: false })) at = dirname(at)
  return usage(at === path ? `there is no ${quoted(path)}` : `there is no folder ${quoted(at)}`, hint)
}

/**
 * A system error about a path that stands in `argv`, below one, or above one, as a refusal; null for any other error: that
 * is a fault of ours.
 */
export function aboutGiven(error: unknown, argv: readonly string[], cwd: string): Refusal | null {
  if (!(error instanceof Error)) return null
  const named = [...('path' in error ? [error.path] : []), ...('dest' in error ? [error.dest] : [])]
  const words = argv.flatMap((word) => [word, word.slice(word.indexOf('=') + 1)])
  const given = words.filter((word) => /[^-]/.test(word)).map((word) => resolve(cwd, word))
  const path = named.find(
    (one): one is string => typeof one === 'string' && given.some((word) => touches(word, resolve(cwd, one))),
  )
  return path === undefined ? null : systemRefusal(error, path)
}

/** `word.draft` is made for `word`. */
const touches = (word: string, path: string): boolean =>
  path.startsWith(word) || word.startsWith(path.endsWith(sep) ? path : path + sep)

/** `ENOENT: no such file or directory, open '…'` → `no such file or directory`. */
const reasonOf = ({ message }: Error): string => message.split(', ')[0]?.replace(/^[A-Z0-9]+: /, '') ?? message

const quoted = (path: string): string => JSON.stringify(path)
