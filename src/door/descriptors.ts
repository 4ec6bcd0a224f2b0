// Is a file descriptor left? Without one no process can be looked at, so nobody is let in, and no new connection is taken.
import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'

const LACKING = new Set(['EMFILE', 'ENFILE'])

/** Why callers cannot be proved for want of a descriptor; null where there is one. Two system calls: ask as often as you like. */
export function lackOfDescriptors(): string | null {
  try {
    closeSync(openSync(devNull, 'r'))
    return null
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    return LACKING.has(code) ? `no file descriptor is left (${code}): too many connections are open` : null
  }
}
