// Our own end of a connection: found once among our descriptors, then known again by its cookie without asking netlink.
import { libc, memory } from './libc.ts'

const SOL_SOCKET = 1
const SO_COOKIE = 57
const value = memory(64)
const length = memory(64)
/** Descriptors looked at behind the last one found before all others, and at most: 4,096 calls are a millisecond, once a connection. */
const NEAR = 256
const MOST = 4096

export class OwnEnds {
  #last = 2

  /** The descriptor of our socket with that cookie; -1 where it is not among the first ones. A new one has a low number. */
  find(low: number, high: number): number {
    const end = Math.min(this.#last + NEAR, MOST)
    for (let fd = this.#last + 1; fd <= end; fd++) if (this.#is(fd, low, high)) return this.#found(fd)
    for (let fd = 3; fd <= this.#last; fd++) if (this.#is(fd, low, high)) return this.#found(fd)
    for (let fd = end + 1; fd <= MOST; fd++) if (this.#is(fd, low, high)) return this.#found(fd)
    return -1
  }

  /**
   * Is `fd` that very socket, and still connected? A cookie is never reused in a boot, and a connected socket keeps its
   * addresses; after a reset it has no peer any more, getpeername(2).
   */
  connected(fd: number, low: number, high: number): boolean {
    length.view.setUint32(0, 32, true)
    return this.#is(fd, low, high) && libc().getpeername(fd, value.at, length.at) === 0
  }

  #is(fd: number, low: number, high: number): boolean {
    length.view.setUint32(0, 8, true)
    return (
      libc().getsockopt(fd, SOL_SOCKET, SO_COOKIE, value.at, length.at) === 0 &&
      value.view.getUint32(0, true) === low &&
      value.view.getUint32(4, true) === high
    )
  }

  #found(fd: number): number {
    this.#last = fd
    return fd
  }
}
