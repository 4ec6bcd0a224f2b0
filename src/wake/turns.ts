// What sessions show of their turns: that they call, what their hooks were told, and which mail started the turn they are in.
import { EventEmitter } from 'node:events'
import type { HookMoment } from '../engine/wake/port.ts'
import type { SessionRow } from '../store/rows.ts'

type Turn = {
  /** Up to which letter a hook has told it within a turn. */
  told: number
  /** Of the mail that woke it, while that turn lasts. */
  hop: number | null
  /** Prompts since then: the first is the wake's own. */
  prompts: number
  wokenAt: number
}

/** A turn that mail started is taken to be over after this (ms), where the client does not say so. */
const TURN_MS = 30 * 60_000

export class Turns {
  readonly #turns = new Map<number, Turn>()
  readonly #calls = new EventEmitter().setMaxListeners(0)

  constructor(readonly now: () => number) {}

  heard(session: SessionRow): void {
    if (this.#calls.listenerCount(String(session.id)) > 0) this.#calls.emit(String(session.id))
  }

  /** A notice at a session's start is seen with its next turn only; all others are within one, or make it go on. */
  hooked(session: SessionRow, moment: HookMoment, told: number): void {
    if (moment === 'start') return
    const turn = this.#of(session)
    turn.told = Math.max(turn.told, told)
    if (moment === 'prompt' && turn.hop !== null && ++turn.prompts > 1) turn.hop = null
    this.heard(session)
  }

  told = (session: SessionRow): number => this.#turns.get(session.id)?.told ?? 0

  hop(session: SessionRow): number | null {
    const turn = this.#turns.get(session.id)
    if (!turn || turn.hop === null) return null
    if (this.now() - turn.wokenAt > TURN_MS) turn.hop = null
    return turn.hop
  }

  /** Mail of that hop starts a turn of the session now. */
  woken(session: SessionRow, hop: number): void {
    const turn = this.#of(session)
    // in a turn that mail started already, the longer way counts
    turn.hop = Math.max(turn.hop ?? 0, hop)
    turn.prompts = 0
    turn.wokenAt = this.now()
  }

  /** Resolves to true once the session calls, or one of its hooks does. */
  nextCall(session: number, ms: number, signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const end = (called: boolean) => {
      clearTimeout(timer)
      this.#calls.off(String(session), yes)
      signal.removeEventListener('abort', no)
      resolve(called)
    }
    const yes = () => end(true)
    const no = () => end(false)
    const timer = setTimeout(no, ms)
    this.#calls.once(String(session), yes)
    signal.addEventListener('abort', no, { once: true })
    if (signal.aborted) no()
    return promise
  }

  /** Forgets the sessions that `gone` says have ended. */
  prune(gone: (session: number) => boolean): void {
    for (const id of this.#turns.keys()) if (gone(id)) this.#turns.delete(id)
  }

  #of(session: SessionRow): Turn {
    const known = this.#turns.get(session.id)
    if (known) return known
    const turn: Turn = { told: 0, hop: null, prompts: 0, wokenAt: 0 }
    this.#turns.set(session.id, turn)
    return turn
  }
}
