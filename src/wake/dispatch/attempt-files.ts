// The files of one attempt, in the data folder, for their owner alone: what is started, what it is told, what it prints, how it ends.
import {
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Instance } from './proc.ts'

/** What the attendant is to start, in its own environment: that may hold secrets, and is in no file. */
export type Spec = { program: string; args: readonly string[]; cwd: string; umask: number }

/** How the agent's own process ended, as its attendant saw it; `error`: it could not be started. */
export type Exit = { code: number | null; signal: string | null; error: string | null; at: number }

/** Who attends the attempt; pid 0: nobody ever will. */
export type Claim = Instance & { boot: string }

export const attemptFolder = (dataDir: string, dispatch: number, attempt: number): string =>
  join(dataDir, 'dispatch', String(dispatch), String(attempt))

export const filesOf = (folder: string) => ({
  spec: join(folder, 'spec.json'),
  prompt: join(folder, 'prompt'),
  token: join(folder, 'token'),
  claim: join(folder, 'claim'),
  /** The environment of the agent, until its attendant has read it: where a manager starts the attendant. */
  env: join(folder, 'env.json'),
  exit: join(folder, 'exit.json'),
  out: join(folder, 'out'),
  err: join(folder, 'err'),
})

export const makeFolder = (folder: string): void => void mkdirSync(folder, { recursive: true, mode: 0o700 })

/** A file of mode 0600, there whole or not at all. */
export function put(path: string, content: string): void {
  const draft = `${path}.${process.pid}.new`
  rmSync(draft, { force: true })
  writeFileSync(draft, content, { flag: 'wx', mode: 0o600 })
  renameSync(draft, path)
}

/**
 * Claims an attempt: only one process ever can, because link(2) does not replace a file. So the agent of an attempt is
 * started once at most, whoever dies in between, and a mailbox that claims it itself knows that it never will be.
 */
export function claim(folder: string, who: Claim): boolean {
  const { claim: path } = filesOf(folder)
  const draft = `${path}.${process.pid}.new`
  rmSync(draft, { force: true })
  writeFileSync(draft, JSON.stringify(who), { flag: 'wx', mode: 0o600 })
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

export function readClaim(folder: string): Claim | null {
  const { claim: path } = filesOf(folder)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null
}

/** The environment that was left for the attendant, which takes it away; null: it has its own. */
export function takeEnvironment(folder: string): Record<string, string> | null {
  const { env } = filesOf(folder)
  if (!existsSync(env)) return null
  const found: Record<string, string> = JSON.parse(readFileSync(env, 'utf8'))
  rmSync(env, { force: true })
  return found
}

export const readSpec = (folder: string): Spec => JSON.parse(readFileSync(filesOf(folder).spec, 'utf8'))

export function readExit(folder: string): Exit | null {
  const { exit } = filesOf(folder)
  return existsSync(exit) ? JSON.parse(readFileSync(exit, 'utf8')) : null
}

/** Bytes of a file from `offset` on; an empty buffer where there is none. */
export function readFrom(path: string, offset: number, limit: number): { bytes: Buffer; size: number } {
  if (!existsSync(path)) return { bytes: Buffer.alloc(0), size: 0 }
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    const bytes = Buffer.alloc(Math.max(0, Math.min(limit, size - offset)))
    return { bytes: bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, offset)), size }
  } finally {
    closeSync(fd)
  }
}

/** The end of a text file, at most `limit` bytes. */
export function tailOf(path: string, limit: number): string {
  const { size } = readFrom(path, 0, 0)
  return readFrom(path, Math.max(0, size - limit), limit).bytes.toString('utf8')
}
