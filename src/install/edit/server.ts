// Our MCP server in a client's JSON: put, mended, taken out. Members that somebody added to it stay.
import { Taken } from './damaged.ts'
import type { JsonText, Path, Value } from './json.ts'

type Entry = { readonly [member: string]: Value }

/**
 * Puts `entry` at `path`. What stands there and is not ours is not replaced.
 * @throws Taken, Damaged
 */
export function putServer(
  json: JsonText,
  path: Path,
  entry: Entry,
  isOurs: (words: readonly string[]) => boolean,
): void {
  const found = json.at(path)
  if (found === undefined) return json.set(path, { ...entry })
  if (!isOurs(wordsOf(found))) throw new Taken(`${path.join('.')} is another server`)
  for (const [member, value] of Object.entries(entry)) json.set([...path, member], value)
}

/** Takes it out, if it is ours. */
export function dropServer(json: JsonText, path: Path, isOurs: (words: readonly string[]) => boolean): void {
  const found = json.at(path)
  if (found !== undefined && isOurs(wordsOf(found))) json.remove(path)
}

/** The command line of the server at `path`; null where there is none. @throws Damaged */
export function serverWords(json: JsonText, path: Path): string[] | null {
  const found = json.at(path)
  return found === undefined ? null : wordsOf(found)
}

/** The command line of an entry: `command` and `args`, or opencode's `command` alone. */
function wordsOf(entry: Value): string[] {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return []
  return [entry.command, entry.args].flat().filter((word): word is string => typeof word === 'string')
}
