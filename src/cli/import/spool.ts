// Standard input as a file, for what has to be read twice; only its owner may read it, and it goes when it is not needed any more.
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diskRefusal } from '../../store/disk.ts'
import type { Io } from '../io.ts'

/** Removed with the answer. @throws Refusal `store_unavailable`: there is no room for it */
export async function spooled(io: Io): Promise<Disposable & { path: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'mail4agent-')) // of mode 0700
  const end = () => rmSync(folder, { recursive: true, force: true })
  const path = join(folder, 'input')
  try {
    const file = openSync(path, 'wx', 0o600)
    try {
      for await (const chunk of io.inputStream()) for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    end()
    throw diskRefusal(error, path, 'name a file instead of -') ?? error
  }
  return { path, [Symbol.dispose]: end }
}
