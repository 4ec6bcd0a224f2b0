// Who listens on a Unix socket that we are connected to, asked of the kernel alone: unix(7).
import { dlopen, ptr } from 'bun:ffi'

const SOL_SOCKET = 1
const SO_PEERCRED = 17
/** struct ucred: pid, uid, gid, 32 bits each. */
const credentials = new Uint32Array(3)
const length = new Uint32Array(1)

// One function, not the whole of linux/libc.ts: this runs at the start of every command. For the name see there.
const open = () => dlopen('libc.so.6', { getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' } })
let loaded: ReturnType<typeof open> | undefined

/**
 * The effective user id of the process at the other end of the connected Unix socket `fd`; where we are the client, of the
 * one that called listen(2). -1, which is nobody, where `fd` is no such socket. Null on a platform where we cannot ask.
 */
export function peerUid(fd: number): number | null {
  if (process.platform !== 'linux') return null
  loaded ??= open()
  credentials.fill(0xffffffff)
  length[0] = credentials.byteLength
  const failed = loaded.symbols.getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ptr(credentials), ptr(length)) !== 0
  const [, uid = 0xffffffff] = credentials
  // what is no connected Unix socket has the credentials of nobody: all bits set
  return failed || uid === 0xffffffff ? -1 : uid
}
