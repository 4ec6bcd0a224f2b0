// The C library calls that attestation needs.
import { dlopen, FFIType, read } from 'bun:ffi'

export { cstring, memory } from '../memory.ts'

/** System call numbers, and the layouts that differ: asm/unistd.h, struct stat and fcntl.h of each architecture. */
export const ABI = {
  x64: { getdents64: 217, fstat: 5, fstatfs: 138, pidfdOpen: 434, statUid: 28, directory: 0o200000 },
  arm64: { getdents64: 61, fstat: 80, fstatfs: 44, pidfdOpen: 434, statUid: 24, directory: 0o40000 },
} as const

export const abi = process.arch === 'x64' ? ABI.x64 : ABI.arm64

export const O_CLOEXEC = 0o2000000
export const O_DIRECTORY = abi.directory | O_CLOEXEC
export const ENOENT = 2
export const ESRCH = 3
export const EACCES = 13
export const EPERM = 1

// "libc.so.6" opens glibc, and musl takes it for itself. Never probe other names: one that the loader does not find is
// looked for in the current folder, which anybody may have filled.
function open() {
  return dlopen('libc.so.6', {
    socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    connect: { args: ['i32', 'ptr', 'u32'], returns: 'i32' },
    close: { args: ['i32'], returns: 'i32' },
    send: { args: ['i32', 'ptr', 'u64', 'i32'], returns: FFIType.i64_fast },
    recv: { args: ['i32', 'ptr', 'u64', 'i32'], returns: FFIType.i64_fast },
    getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
    getpeername: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
    open: { args: ['ptr', 'i32'], returns: 'i32' },
    openat: { args: ['i32', 'ptr', 'i32'], returns: 'i32' },
    read: { args: ['i32', 'ptr', 'u64'], returns: FFIType.i64_fast },
    pread: { args: ['i32', 'ptr', 'u64', 'i64'], returns: FFIType.i64_fast },
    lseek: { args: ['i32', 'i64', 'i32'], returns: FFIType.i64_fast },
    readlinkat: { args: ['i32', 'ptr', 'ptr', 'u64'], returns: FFIType.i64_fast },
    syscall: { args: ['i64', 'i64', 'ptr', 'i64'], returns: FFIType.i64_fast },
    geteuid: { args: [], returns: 'u32' },
    madvise: { args: ['u64', 'u64', 'i32'], returns: 'i32' },
    __errno_location: { args: [], returns: 'ptr' },
  }).symbols
}

let loaded: ReturnType<typeof open> | undefined

/** The library, opened at the first call: this file may be loaded on a platform that does not have it. */
export function libc() {
  loaded ??= open()
  return loaded
}

/** errno of the call just made: read it before anything else runs. */
export function errno(): number {
  const at = libc().__errno_location()
  return at === null ? 0 : read.i32(at, 0)
}

/** Writes a decimal number and a NUL at `offset`; answers where the NUL is. */
export function writeNumber(bytes: Uint8Array, offset: number, value: number): number {
  let digits = 1
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits++
  let rest = value
  for (let i = offset + digits - 1; i >= offset; i--) {
    const tens = Math.floor(rest / 10)
    bytes[i] = 48 + rest - tens * 10
    rest = tens
  }
  bytes[offset + digits] = 0
  return offset + digits
}
