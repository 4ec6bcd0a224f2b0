// Which processes have a socket open: one process, or all of them.
import { processIds, processInfo, socketOf, socketsOf } from './facts.ts'
import type { SocketInfo } from './layout.ts'

/** A process that has the socket open, under `count` descriptors of which `fd` is one. */
export type Holder = { pid: number; fd: number; count: number; socket: SocketInfo }

export type Match = (socket: SocketInfo) => boolean

/** Null where the process does not have it. */
export function holderIn(pid: number, match: Match): Holder | null | 'denied' {
  const fds = socketsOf(pid)
  if (fds === 'denied') return 'denied'
  if (fds === 'gone') return null
  let found: Holder | null = null
  for (const fd of fds) {
    const socket = socketOf(pid, fd)
    if (socket === null || !match(socket)) continue
    if (found === null) found = { pid, fd, count: 1, socket }
    else found.count++
  }
  return found
}

export type Search = {
  holders: Holder[]
  /** processes of our own user whose descriptors we may not see, at most 8 */
  unreadable: number[]
  processes: number
}

/** All processes that have it; null where they cannot be listed. */
export function searchAll(match: Match, euid: number): Search | null {
  const pids = processIds()
  if (pids === null) return null
  const holders: Holder[] = []
  const unreadable: number[] = []
  for (const pid of pids) {
    const found = holderIn(pid, match)
    if (found === 'denied') {
      const info = processInfo(pid)
      if (info && (info.uid === euid || info.realUid === euid) && unreadable.length < 8) unreadable.push(pid)
    } else if (found !== null) holders.push(found)
  }
  return { holders, unreadable, processes: pids.length }
}
