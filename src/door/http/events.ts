// GET /events: what happens to mail and dispatches that the caller may see, as server-sent events. Ids only; the letters are
// read with get.
import type { Feed } from '../../delivery/feeds.ts'
import { positionOf } from '../../engine/cursor.ts'
import { happened } from '../../engine/happened.ts'
import type { Caller } from '../../engine/mail.ts'
import type { AccountRow, EventRow } from '../../store/rows.ts'
import { Cursor, cursorOf } from '../../wire/names.ts'
import { denied, malformed, Refusal } from '../../wire/refusal.ts'
import { checkRequest } from '../validate.ts'
import type { Door } from './door.ts'
import { headers } from './reply.ts'

/** Below every idle time-out on the way: proxies and clients drop silent streams after 30 to 60 s. */
const HEARTBEAT_MS = 15_000
/** Milliseconds: what happens in such a time is told together, so that a flood of commits is no flood of reads. */
const GATHER_MS = 20

/**
 * The stream of `caller`, from after `Last-Event-ID` or `?cursor=`, or from now. It ends at shutdown and when the caller's
 * token or session does.
 * @throws Refusal `permission_denied`, `malformed` {field: cursor}, `cursor_expired`, `too_many`
 */
export function streamEvents(door: Door, caller: Caller, request: Request): Response {
  if (!caller.account.can.read && !caller.account.can.operator) throw denied('read')
  const cursor = request.headers.get('last-event-id') ?? new URL(request.url).searchParams.get('cursor')
  const feed = new Reader(
    door,
    caller,
    request.headers.get('authorization'),
    cursor ? resume(door, cursor) : door.mail.store.head,
  )
  const encoder = new TextEncoder()
  request.signal.addEventListener('abort', feed.close)
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const text = await feed.next()
      if (text === null) controller.close()
      else controller.enqueue(encoder.encode(text))
    },
    cancel: feed.close,
  })
  return new Response(body, { headers: headers(request, { 'content-type': 'text/event-stream' }) })
}

function resume({ mail }: Door, cursor: string): number {
  if (checkRequest(Cursor, cursor)) throw malformed('cursor', 'is no cursor')
  const position = positionOf(mail.store, cursor) ?? mail.store.head
  if (position < mail.store.keeping.floor)
    throw new Refusal('cursor_expired', 'what happened after this cursor is no longer kept')
  return position
}

/** Waits until what was told last is a while ago. */
async function gather(told: number): Promise<void> {
  const left = told + GATHER_MS - performance.now()
  if (left > 1) await Bun.sleep(left)
}

/** One reader of the event log: asks the store after a commit, never on a clock. */
class Reader implements Feed {
  readonly #door: Door
  readonly #caller: Caller
  readonly #authorization: string | null
  readonly #unsubscribe: () => void
  #after: number
  #begun = false
  #closed = false
  #wake: ((woken: boolean) => void) | undefined
  #told = 0

  constructor(door: Door, caller: Caller, authorization: string | null, after: number) {
    this.#door = door
    this.#caller = caller
    this.#authorization = authorization
    this.#after = after
    this.#unsubscribe = door.feeds.add(this)
    if (door.calls.closed.aborted) this.close()
    else door.calls.closed.addEventListener('abort', this.close)
  }

  get account(): number {
    return this.#caller.account.id
  }

  wake(): void {
    this.#wake?.(true)
  }

  /** Only where it has read all before that: where it waits. */
  skip(sequence: number): void {
    if (this.#wake && sequence > this.#after) this.#after = sequence
  }

  close = (): void => {
    this.#closed = true
    this.#door.calls.closed.removeEventListener('abort', this.close)
    this.#unsubscribe()
    this.#wake?.(true)
  }

  /** The next piece of text, an empty-handed heartbeat included; null at the end. */
  async next(): Promise<string | null> {
    if (!this.#begun) {
      this.#begun = true
      return `retry: 1000\n${this.#position()}`
    }
    for (;;) {
      const caller = this.#closed ? null : this.#entitled()
      if (!caller) {
        this.close()
        return null
      }
      const page = this.#door.feeds.events(this.#after)
      const last = page.at(-1)
      if (last) {
        this.#after = last.id
        const text = page.map((event) => this.#frame(caller, event)).join('')
        if (text) {
          this.#told = performance.now()
          return text
        }
        await new Promise(setImmediate) // a long stretch of other people's events must not hold the loop
      } else if (!(await this.#sleep())) return `: still here\n${this.#position()}`
      else await gather(this.#told)
    }
  }

  /** The caller as it stands now, or null once its token is replaced, its login over, its right taken or its process gone. */
  #entitled(): Caller | null {
    const { session } = this.#caller
    const now = this.#account()
    if (!now || !(now.can.read || now.can.operator)) return null
    return session.ended === null && this.#door.mail.alive(session) ? { account: now, session } : null
  }

  #account(): AccountRow | null {
    try {
      return this.#door.identity.account(this.#authorization)
    } catch (error) {
      if (error instanceof Refusal) return null
      throw error
    }
  }

  #frame(caller: Caller, event: EventRow): string {
    const data = happened(this.#door.mail, caller, event)
    if (data === null) return ''
    return this.#door.feeds.text(
      event,
      () => `id: ${this.#cursor(event.id)}\nevent: ${event.kind}\ndata: ${JSON.stringify(data)}\n\n`,
    )
  }

  /** An event without data: it only moves the reader's Last-Event-ID (HTML, server-sent events, 9.2.6). */
  #position = (): string => `id: ${this.#cursor(this.#after)}\n\n`

  #cursor = (sequence: number): string => cursorOf(this.#door.mail.store.epoch, sequence)

  /** Until the next commit (true) or heartbeat (false). */
  #sleep(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake?.(false), HEARTBEAT_MS)
      this.#wake = (woken) => {
        clearTimeout(timer)
        this.#wake = undefined
        resolve(woken)
      }
    })
  }
}
