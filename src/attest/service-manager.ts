// One datagram to the service manager that started us: sd_notify(3). Bun has no Unix datagram sockets of its own.
import { dlopen, ptr } from 'bun:ffi'

const AF_UNIX = 1
const SOCK_DGRAM = 2
const SOCK_CLOEXEC = 0o2000000
const MSG_NOSIGNAL = 0x4000
/** sizeof sun_path: unix(7). */
const PATH_BYTES = 108

// Four functions, not the whole of linux/libc.ts: a mailbox that nobody supervises opens nothing. For the name see there.
const open = () =>
  dlopen('libc.so.6', {
    socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    connect: { args: ['i32', 'ptr', 'u32'], returns: 'i32' },
    send: { args: ['i32', 'ptr', 'u64', 'i32'], returns: 'i64' },
    close: { args: ['i32'], returns: 'i32' },
  }).symbols
let loaded: ReturnType<typeof open> | undefined

/**
 * Sends `message` to the datagram socket at `path`; a leading @ means the abstract name space. True: the kernel has taken it.
 * From the process itself and not through systemd-notify(1): the manager looks the sender up by its pid after it has read the
 * datagram, and a child has ended by then; nor is that program on every machine.
 */
export function tellServiceManager(path: string, message: string): boolean {
  const name = Buffer.from(path)
  if (process.platform !== 'linux' || (name[0] !== 0x2f && name[0] !== 0x40) || name.length > PATH_BYTES - 1)
    return false
  loaded ??= open()
  const address = Buffer.alloc(2 + PATH_BYTES)
  address.writeUInt16LE(AF_UNIX, 0)
  address.set(name, 2)
  const abstract = name[0] === 0x40
  if (abstract) address[2] = 0
  const socket = loaded.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)
  if (socket < 0) return false
  try {
    // an abstract name has no closing zero, a path has one
    if (loaded.connect(socket, ptr(address), 2 + name.length + (abstract ? 0 : 1)) !== 0) return false
    const bytes = Buffer.from(message)
    return Number(loaded.send(socket, ptr(bytes), bytes.length, MSG_NOSIGNAL)) === bytes.length
  } finally {
    loaded.close(socket)
  }
}
