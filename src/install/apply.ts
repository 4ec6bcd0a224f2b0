// Writing what was planned: recorded first, then written in one step, so that it can be taken back at any moment in between.
import { Refusal } from '../wire/refusal.ts'
import type { ClientFile, ClientName } from './client.ts'
import { ChangedMeanwhile, digestOf, look, makeFolders, missingFolders, replace, type Seen } from './files.ts'
import { edit, stripped } from './plan.ts'
import type { Installation } from './record.ts'

/** A client that writes its file all the time gets these chances to be still for a moment. */
const ATTEMPTS = 5

/**
 * Puts our entries into a file as it is now. Does nothing where they are in place.
 * @throws Refusal `damaged_config`
 */
export function applyFile(record: Installation, client: ClientName, part: number, file: ClientFile): void {
  for (let attempt = 1; ; attempt++) {
    try {
      return once(record, client, part, file)
    } catch (error) {
      if (error instanceof ChangedMeanwhile && attempt < ATTEMPTS) continue
      throw asRefusal(file.path, error)
    }
  }
}

function once(record: Installation, client: ClientName, part: number, file: ClientFile): void {
  const { path } = file
  const seen = look(path)
  const { before, after } = edit(file, seen.bytes)
  if (seen.bytes !== null && before === after) return
  const known = record.fileAt(path)
  const folders = [...(known?.folders ?? []), ...missingFolders(seen.target)]
  record.put({ client, part, path, backup: backupOf(record, file, seen), written: digestOf(after), folders })
  makeFolders(missingFolders(seen.target))
  replace(seen, after)
}

/** What `down` puts back: the file before us. One that changed since our last writing counts as it is, without our entries. */
function backupOf(record: Installation, file: ClientFile, { bytes }: Seen): string | null {
  const known = record.fileAt(file.path)
  if (bytes === null) return null
  if (known && known.written === digestOf(bytes)) return known.backup
  const without = stripped(file, file.path, bytes)
  if (known && known.backup === null && file.isFrame(without)) return null
  return record.keep(file.path, without)
}

export function asRefusal(path: string, error: unknown): unknown {
  if (error instanceof ChangedMeanwhile)
    return new Refusal('damaged_config', `${path} changes all the time`, { path }, 'close the client that uses it')
  if (error instanceof Error && 'code' in error)
    return new Refusal(
      'damaged_config',
      `${path} cannot be written (${error.code})`,
      { path },
      'make it writable to you',
    )
  return error
}
