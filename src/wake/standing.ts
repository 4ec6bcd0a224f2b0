// Doors that stand by: a hook or a plugin of the client itself waits here for the text that is to start a turn. One a session.
import type { Caller } from '../engine/mail.ts'
import type { MessageId } from '../wire/names.ts'
import type { StandByAnswer, StandByRequest } from '../wire/wake.ts'

type Last = { message_id: MessageId; ok: boolean; busy?: boolean | null; detail?: string | null }

type Seat = {
  readonly door: StandByRequest['door']
  /** Who holds it; null between two of its calls. */
  answer: ((answer: StandByAnswer) => void) | null
  /** When its last call ended (ms); it comes back at once, or never. */
  left: number
  busy: boolean
  /** What the door said of the last text that it was given. */
  reported: ((last: Last) => void) | null
}

/** Milliseconds between two calls of one waiter, at most. */
const BETWEEN_MS = 2_000

const NOTHING: StandByAnswer = { wake: null, taken: false }

export class Standing {
  /** `session row id door` → seat */
  readonly #seats = new Map<string, Seat>()

  constructor(
    readonly now: () => number,
    /** A door of the session has come. */
    readonly came: (caller: Caller) => void,
  ) {}

  /** One call of a waiter. A second one for the same session is told that the seat is taken. */
  wait(caller: Caller, request: StandByRequest, ms: number, signal: AbortSignal): Promise<StandByAnswer> {
    const key = keyOf(caller.session.id, request.door)
    const seat = this.#seats.get(key) ?? {
      door: request.door,
      answer: null,
      left: 0,
      busy: false,
      reported: null,
    }
    if (seat.answer !== null) return Promise.resolve({ wake: null, taken: true })
    this.#seats.set(key, seat)
    seat.busy = request.busy ?? false
    if (request.last) seat.reported?.(request.last)
    const { promise, resolve } = Promise.withResolvers<StandByAnswer>()
    const finish = (answer: StandByAnswer) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', leave)
      seat.answer = null
      seat.left = this.now()
      resolve(answer)
    }
    // it may come back at once with more to say
    const leave = () => finish(NOTHING)
    const timer = setTimeout(() => finish(NOTHING), ms)
    seat.answer = finish
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
    else this.came(caller)
    return promise
  }

  /** Null: nobody stands there now. */
  seat(session: number, door: StandByRequest['door']): { busy: boolean } | null {
    const seat = this.#seats.get(keyOf(session, door))
    if (!seat) return null
    if (seat.answer !== null) return { busy: seat.busy }
    if (this.now() - seat.left < BETWEEN_MS) return { busy: seat.busy }
    this.#seats.delete(keyOf(session, door))
    return null
  }

  /**
   * Hands the text over. Resolves to false where nobody was there to take it. `report` is told what the door says of it, if
   * it is one that comes back.
   */
  async give(
    session: number,
    door: StandByRequest['door'],
    wake: NonNullable<StandByAnswer['wake']>,
    report: (last: Last) => void,
  ): Promise<boolean> {
    for (const end = this.now() + BETWEEN_MS; ; await Bun.sleep(20)) {
      const seat = this.#seats.get(keyOf(session, door))
      if (!seat) return false
      if (seat.answer !== null) {
        seat.reported = (last) => {
          if (last.message_id !== wake.message_id) return
          seat.reported = null
          report(last)
        }
        seat.answer({ wake, taken: false })
        return true
      }
      if (this.now() > end) return false
    }
  }

  stop(): void {
    for (const seat of this.#seats.values()) seat.answer?.(NOTHING)
  }
}

const keyOf = (session: number, door: string): string => `${session} ${door}`
