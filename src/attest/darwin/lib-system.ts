// The macOS calls that attestation needs, none of them variadic: arm64 passes variadic arguments where bun:ffi does not put them.
import { dlopen, read } from 'bun:ffi'
import { cstring, type Memory, memory } from '../memory.ts'

// An absolute path: a name alone is looked for in the current folder too, which anybody may have filled.
const LIBRARY = '/usr/lib/libSystem.B.dylib'

const open = () =>
  dlopen(LIBRARY, {
    proc_listallpids: { args: ['ptr', 'i32'], returns: 'i32' },
    proc_pidinfo: { args: ['i32', 'i32', 'u64', 'ptr', 'i32'], returns: 'i32' },
    proc_pidfdinfo: { args: ['i32', 'i32', 'i32', 'ptr', 'i32'], returns: 'i32' },
    proc_pidpath: { args: ['i32', 'ptr', 'u32'], returns: 'i32' },
    sysctl: { args: ['ptr', 'u32', 'ptr', 'ptr', 'ptr', 'u64'], returns: 'i32' },
    sysctlbyname: { args: ['ptr', 'ptr', 'ptr', 'ptr', 'u64'], returns: 'i32' },
    getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
    getsid: { args: ['i32'], returns: 'i32' },
    geteuid: { args: [], returns: 'u32' },
    __error: { args: [], returns: 'ptr' },
  }).symbols

let loaded: ReturnType<typeof open> | undefined

/** Opened at the first call: this file may be loaded on a platform that does not have it. */
export function libSystem() {
  loaded ??= open()
  return loaded
}

export const EPERM = 1
export const ENOMEM = 12
export const EACCES = 13

/** errno of the call just made: read it before anything else runs. */
export function errno(): number {
  const at = libSystem().__error()
  return at === null ? 0 : read.i32(at, 0)
}

/** What a sysctl fills; it may have grown between the question for its size and the one for itself. */
const TRIES = 4

/** The bytes of a sysctl by its name; null where it is not there or not for us. */
export function sysctlByName(name: string): Uint8Array | null {
  const text = cstring(name)
  return grown((buffer, size) => libSystem().sysctlbyname(text.at, buffer?.at ?? null, size.at, null, 0))
}

/** The bytes of a sysctl by its numbers; null where it is not there or not for us. */
export function sysctl(numbers: readonly number[]): Uint8Array | null {
  const mib = memory(4 * numbers.length)
  numbers.forEach((number, i) => {
    mib.view.setInt32(4 * i, number, true)
  })
  return grown((buffer, size) => libSystem().sysctl(mib.at, numbers.length, buffer?.at ?? null, size.at, null, 0))
}

function grown(ask: (buffer: Memory | null, size: Memory) => number): Uint8Array | null {
  const size = memory(8)
  for (let tries = 0; tries < TRIES; tries++) {
    if (ask(null, size) !== 0) return null
    const room = Number(size.view.getBigUint64(0, true))
    if (room === 0) return null
    const buffer = memory(room)
    if (ask(buffer, size) === 0) return buffer.bytes.subarray(0, Number(size.view.getBigUint64(0, true)))
    if (errno() !== ENOMEM) return null
  }
  return null
}
