// The program that is to take our place: taken out of its file or archive, laid beside ours, checked, and asked who it is.
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { diskRefusal } from '../../store/disk.ts'
import { Refusal } from '../../wire/refusal.ts'
import { archiveKind, LARGEST, programIn } from '../release/archive.ts'
import { sha256, sumIn } from '../release/checksums.ts'
import { DRAFT } from './swap.ts'

export type Candidate = {
  /** Where it lies now: in the folder of our program, so that one rename puts it in place. */
  draft: string
  version: string
  /** The newest schema of a store that it knows; null: it does not say. */
  schema: number | null
  /** SHA-256 of the program, hex. */
  digest: string
  /** Of the file that was named, by a SHA256SUMS beside it. Null: there is no such list. */
  checksum: 'matches' | 'not listed' | null
}

/** A draft of that age was left by an upgrade that was ended by force. */
const LEFT_MS = 3_600_000
const ANSWER_MS = 20_000
const ANSWER_BYTES = 65_536
const DRAIN_MS = 500

/**
 * Lays the program of `file`, a binary or a release archive, beside `program`, and runs it once for its version.
 * @throws Refusal `unfit_program`, `bad_permissions`, `store_unavailable` (the disk), `usage`; nothing is left then
 */
export async function stage(file: string, program: string): Promise<Candidate> {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found?.isFile())
    throw new Refusal('usage', `there is no file ${JSON.stringify(file)}`, {}, 'name a program or a release archive')
  if (found.size > LARGEST)
    throw new Refusal('unfit_program', `${file} is larger than any release (${found.size} bytes)`, { path: file })
  const bytes = readable(file)
  const checksum = checkSum(file, bytes)
  const content = archiveKind(bytes) === null ? bytes : await unpacked(file, bytes, basename(program))
  const draft = lay(content, program)
  try {
    return { draft, ...(await ask(draft, file)), digest: sha256(content), checksum }
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

function readable(file: string): Buffer<ArrayBuffer> {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new Refusal('bad_permissions', `${file} cannot be read: ${said(error)}`, { path: file }, 'make it readable')
  }
}

function checkSum(file: string, bytes: Uint8Array): Candidate['checksum'] {
  const list = join(dirname(file), 'SHA256SUMS')
  if (!statSync(list, { throwIfNoEntry: false })?.isFile()) return null
  const sum = sumIn(readFileSync(list, 'utf8'), basename(file))
  if (sum === null) return 'not listed'
  if (sum === sha256(bytes)) return 'matches'
  throw new Refusal(
    'unfit_program',
    `${file} is not what ${list} says`,
    { path: file },
    'get it again; nothing was changed',
  )
}

async function unpacked(file: string, bytes: Buffer<ArrayBuffer>, name: string): Promise<Uint8Array> {
  const wanted = /\.exe$/i.test(name) ? 'mail4agent.exe' : 'mail4agent'
  let found: Uint8Array | null
  try {
    found = await programIn(bytes, wanted)
  } catch (error) {
    throw new Refusal('unfit_program', `${file} cannot be unpacked: ${said(error)}`, { path: file })
  }
  if (found === null) throw new Refusal('unfit_program', `there is no ${wanted} in ${file}`, { path: file })
  return found
}

/** Whole and on the disk, with the mode and owner of the program that it is to replace. */
function lay(content: Uint8Array, program: string): string {
  const folder = dirname(program)
  const draft = join(folder, `${DRAFT}${randomUUID()}${/\.exe$/i.test(program) ? '.exe' : ''}`)
  try {
    removeLeft(folder)
    const { mode, uid, gid } = statSync(program)
    const out = openSync(draft, 'wx', 0o700)
    try {
      for (let at = 0; at < content.length; ) at += writeSync(out, content, at)
      fsyncSync(out)
    } finally {
      closeSync(out)
    }
    if (process.getuid?.() === 0) chownSync(draft, uid, gid)
    chmodSync(draft, mode & 0o777)
    return draft
  } catch (error) {
    rmSync(draft, { force: true })
    throw diskRefusal(error, folder, 'run this as the user to whom the program belongs') ?? error
  }
}

function removeLeft(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(DRAFT)) continue
    const path = join(folder, name)
    const found = statSync(path, { throwIfNoEntry: false })
    if (found && Date.now() - found.mtimeMs > LEFT_MS) rmSync(path, { force: true })
  }
}

/** Runs it: only a program for this system answers. */
async function ask(draft: string, file: string): Promise<{ version: string; schema: number | null }> {
  const { PATH, HOME, SYSTEMROOT, TEMP } = process.env
  let text = ''
  try {
    const child = Bun.spawn([draft, 'version', '--json'], {
      env: { PATH, HOME, SYSTEMROOT, TEMP },
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: ANSWER_MS,
      killSignal: 'SIGKILL',
    })
    text = await saidBy(child.stdout, child.exited)
  } catch (error) {
    throw new Refusal('unfit_program', `${file} does not run on this system: ${said(error)}`, { path: file })
  }
  const answer = identity(text)
  if (answer === null)
    throw new Refusal('unfit_program', `${file} is no mail4agent that runs on this system`, { path: file })
  return answer
}

/**
 * What it prints, some bytes at most. Once it has ended, its own children may hold the pipe open for ever: what came until a
 * moment later is all.
 */
async function saidBy(stream: ReadableStream<Uint8Array>, ended: Promise<number>): Promise<string> {
  const reader = stream.getReader()
  const late = ended.then(() => Bun.sleep(DRAIN_MS)).then(() => ({ done: true, value: undefined }))
  const parts: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await Promise.race([reader.read(), late])
    if (done || value === undefined || size > ANSWER_BYTES) break
    parts.push(value)
    size += value.length
  }
  reader.releaseLock()
  return Buffer.concat(parts).toString()
}

function identity(text: string): { version: string; schema: number | null } | null {
  try {
    const said: unknown = JSON.parse(text)
    if (typeof said !== 'object' || said === null || !('name' in said) || said.name !== 'mail4agent') return null
    if (!('version' in said) || typeof said.version !== 'string' || !/^[\w.+-]{1,64}$/.test(said.version)) return null
    const schema = 'schema' in said && Number.isSafeInteger(said.schema) ? Number(said.schema) : null
    return { version: said.version, schema }
  } catch {
    return null
  }
}

const said = (error: unknown): string => (error instanceof Error ? error.message : String(error))
