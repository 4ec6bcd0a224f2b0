// The world around a command: its streams, environment, terminal and end; tests put their own in place.
import { fstatSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, isAbsolute, relative, sep } from 'node:path'
import { isatty } from 'node:tty'

export type Io = {
  /** Data. */
  out(text: string): void
  /** Talk. */
  err(text: string): void
  /** All of standard input. */
  input(): Promise<Uint8Array>
  /** Standard input as it comes. */
  inputStream(): AsyncIterable<Uint8Array>
  env: Record<string, string | undefined>
  /**
   * What M4A_TOKEN held. It is no longer in `env`, so no child that is started with that inherits it; one that Bun.spawn
   * starts without an `env` would get the environment as it was.
   */
  token: string | null
  cwd: string
  home: string
  platform: NodeJS.Platform
  /** How to call us from the current folder: `mail4agent` where the PATH finds us. */
  program: string
  /** Milliseconds since the epoch. */
  now(): number
  /** Is it a terminal where a person reads? Its width in columns, or null for a pipe or file. */
  outColumns: number | null
  errIsTerminal: boolean
  /** May a person be asked? */
  inIsTerminal: boolean
  /** Aborted by SIGINT and SIGTERM, from the first call on; until then both end us at once, as usual. */
  stopSignal(): AbortSignal
}

/** Raised when the reader of our output has gone: `mail4agent inbox | head -1`. */
export class ReaderGone extends Error {}

/** Raised when our output cannot be written: `mail4agent inbox > file` on a full disk. */
export class CannotWrite extends Error {}

/** Raised through the stop signal: a person or a supervisor ended us. */
export class Stopped extends Error {
  constructor(readonly signal: 'SIGINT' | 'SIGTERM') {
    super(signal)
  }
}

/** The real one. Output is written at once and whole, so that leaving early loses nothing. */
export function processIo(): Io {
  let stop: AbortController | null = null
  const token = process.env.M4A_TOKEN || null
  delete process.env.M4A_TOKEN
  return {
    out: (text) => writeWhole(1, text),
    err: (text) => writeWhole(2, text),
    input: () => Bun.stdin.bytes(),
    inputStream: () => Bun.stdin.stream(),
    env: process.env,
    token,
    cwd: process.cwd(),
    home: process.env.HOME || homedir(),
    platform: process.platform,
    program: programFrom(process.cwd()),
    now: Date.now,
    outColumns: isTerminal(1) ? process.stdout.columns || 80 : null,
    errIsTerminal: isTerminal(2),
    inIsTerminal: isatty(0),
    stopSignal() {
      if (stop === null) {
        const controller = new AbortController()
        for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort(new Stopped(name)))
        stop = controller
      }
      return stop.signal
    },
  }
}

/** Run from source there is no program of ours; the name stands for it. */
function programFrom(folder: string): string {
  const name = basename(process.execPath).replace(/\.exe$/, '')
  if (!name.startsWith('mail4agent')) return 'mail4agent'
  if (Bun.which(name) === process.execPath) return name
  const path = relative(folder, process.execPath)
  if (path.startsWith('..') || isAbsolute(path)) return process.execPath
  return path.includes(sep) ? path : `.${sep}${path}` // a shell looks for a bare name on the PATH only
}

/** A pipe that another program made non-blocking refuses with EAGAIN while it is full: write(2). */
function writeWhole(fd: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : null
      if (code === 'EPIPE') throw new ReaderGone()
      if (code !== 'EAGAIN')
        throw new CannotWrite(`cannot write to standard ${fd === 1 ? 'output' : 'error'} (${code})`)
      Bun.sleepSync(1)
    }
  }
}

function isTerminal(fd: 1 | 2): boolean {
  try {
    return fstatSync(fd).isCharacterDevice() && (fd === 1 ? process.stdout.isTTY : process.stderr.isTTY)
  } catch {
    return false
  }
}
