// A socket whose only holder was proved, and the cheap re-check of that proof at each later call.
import type { Attested } from '../attestor.ts'
import { RECHECK_MS } from './child-sockets.ts'
import type { Look } from './look.ts'
import type { PinTable } from './pin-table.ts'
import type { Pinned } from './pinned.ts'

/** `lost`: the process has ended, or has the socket no more. `shared`: a child of it has the socket too. */
export type HeldState = 'held' | 'lost' | 'shared' | 'other_user'

export class Held {
  /** who had the socket too, when `check` last said `shared` */
  sharers: number[] = []
  /** of the connection, once it is known */
  isOpen: (() => boolean) | undefined
  #pinned: Pinned
  #table: PinTable
  #fd: number
  #forkMark: number
  #checkedAt: number
  #warm: Attested | undefined

  /** `forkMark` is from before the search that found `pinned` to be the only holder. */
  constructor(
    pinned: Pinned,
    table: PinTable,
    readonly inode: number,
    readonly connection: string,
    fd: number,
    forkMark: number,
  ) {
    this.#pinned = pinned
    this.#table = table
    this.#fd = fd
    this.#forkMark = forkMark
    this.#checkedAt = performance.now()
  }

  get pinned(): Pinned {
    return this.#pinned
  }

  /**
   * Holds now, alive, ours, and not shared with a child made since. A process that got the descriptor through a Unix
   * socket after the proof is not seen, nor a grandchild whose parent has ended.
   * `fresh`: the search of all holders has just ended, so that a kernel without lists of children is no reason to refuse.
   */
  check(look: Look, euid: number, fresh: boolean): HeldState {
    if (this.#pinned.closed && !this.#pinAgain()) return 'lost'
    const pinned = this.#pinned
    const { mark, now } = look
    if (mark < 0 || mark !== this.#forkMark || now - this.#checkedAt > RECHECK_MS) {
      const children = pinned.childrenWith(this.inode, mark, now)
      if (children === null && !fresh) return 'lost'
      this.sharers = children ?? []
      if (this.sharers.length > 0) return 'shared'
      if (children !== null) this.#forkMark = mark
      this.#checkedAt = now
    }
    if (now - pinned.loadedAt > RECHECK_MS && !pinned.load()) return 'lost'
    if (!look.unchanged(pinned) && !pinned.refresh()) return 'lost'
    if (!pinned.holds(this.#fd, this.inode)) {
      this.#fd = pinned.find(this.inode) // dup2(2) and close(2) may have moved it
      if (this.#fd < 0) return 'lost'
    }
    return pinned.process.uid === euid && !pinned.mixedUser ? 'held' : 'other_user'
  }

  /** The table had no room for it: the proof is about the socket, so that very instance is pinned again, if it runs. */
  #pinAgain(): boolean {
    const pinned = this.#table.again(this.#pinned.process)
    if (pinned === null) return false
    this.#pinned = pinned
    this.#checkedAt = Number.NEGATIVE_INFINITY // what the old pin knew of its children is gone
    return true
  }

  verdict(via: Attested['via']): Attested {
    const { isOpen, connection } = this
    return { ok: true, process: this.pinned.process, via, connection, ...(isOpen && { isOpen }) }
  }

  /** The same object as long as no fact moves: the warm path allocates nothing. */
  warm(): Attested {
    if (this.#warm?.process !== this.pinned.process) this.#warm = this.verdict('warm')
    return this.#warm
  }
}
