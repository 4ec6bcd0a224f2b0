// Taking back what was written: a file that is still ours gets its copy back, byte for byte; from any other our entries go.
import { asRefusal } from './apply.ts'
import { AGENT_CLIENTS } from './clients/all.ts'
import { ChangedMeanwhile, digestOf, look, remove, removeFolders, replace } from './files.ts'
import type { Machine, Us } from './machine.ts'
import { stripped } from './plan.ts'
import type { FileRecord, Installation } from './record.ts'

export type Undone = 'restored' | 'removed' | 'cleaned' | 'as it was'

const ATTEMPTS = 5

/**
 * Takes back one file and forgets it.
 * @throws Refusal `damaged_config`: the file changed into something that cannot be edited; it stays recorded
 */
export function undoFile(record: Installation, file: FileRecord, machine: Machine, us: Us): Undone {
  for (let attempt = 1; ; attempt++) {
    try {
      const undone = once(record, file, machine, us)
      removeFolders(file.folders)
      record.drop(file)
      return undone
    } catch (error) {
      if (error instanceof ChangedMeanwhile && attempt < ATTEMPTS) continue
      throw asRefusal(file.path, error)
    }
  }
}

function once(record: Installation, file: FileRecord, machine: Machine, us: Us): Undone {
  const seen = look(file.path)
  if (seen.bytes === null) return 'as it was'
  if (digestOf(seen.bytes) === file.written) {
    const kept = file.backup === null ? null : record.kept(file.backup)
    if (file.backup === null) remove(seen)
    if (kept !== null) replace(seen, kept)
    if (file.backup === null || kept !== null) return kept === null ? 'removed' : 'restored'
    // somebody has removed the copy: our entries can still go
  }
  const form = AGENT_CLIENTS[file.client].files(machine, us)[file.part]
  if (!form) return 'as it was'
  const text = stripped(form, file.path, seen.bytes)
  if (file.backup === null && form.isFrame(text)) {
    remove(seen)
    return 'removed'
  }
  if (seen.bytes.equals(Buffer.from(text))) return 'as it was'
  replace(seen, text)
  return 'cleaned'
}

/** What would become of a file, without touching it; null where it cannot be read now. */
export function wouldUndo(file: FileRecord): Undone | null {
  let bytes: Buffer | null
  try {
    bytes = look(file.path).bytes
  } catch {
    return null
  }
  if (bytes === null) return 'as it was'
  if (digestOf(bytes) !== file.written) return 'cleaned'
  return file.backup === null ? 'removed' : 'restored'
}
