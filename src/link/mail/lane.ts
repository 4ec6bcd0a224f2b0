// The way to one peer: what waits is put into frames, each is encrypted once, sent in order, and sent anew until the peer has it.
import type { Mail } from '../../engine/mail.ts'
import type { LinkStore } from '../../store/link/link-store.ts'
import type { Frame as FrameRow } from '../../store/link/outbox.ts'
import { backOff, HomeserverError } from '../matrix/homeserver.ts'
import type { Peer } from '../peers.ts'
import { envelopeFor } from './compose.ts'
import { type Chunk, chunksOf, EVENT, type Frame } from './envelope.ts'
import { textsFor } from './people.ts'

export type Road = {
  readonly mail: Mail
  readonly links: LinkStore
  /** The Matrix room to that peer, or why nothing can be sent to it now. */
  room(peer: Peer): Promise<{ room: string } | { reason: string }>
  encrypt(room: string, user: string, type: string, content: object): Promise<string>
  /** Resolves to the id of the event. */
  put(room: string, txn: string, content: string): Promise<string>
}

/** Frames under way at once: the homeserver keeps their order. */
const WINDOW = 16
/** Items in one frame, and bytes of them after which a frame is full. */
const ITEMS = 100
const FULL = 24_000
/** Milliseconds after which a frame that nobody confirmed is sent anew. */
const AGAIN: readonly number[] = [10_000, 30_000, 120_000, 600_000, 3_600_000]

export class Lane {
  #peer: Peer
  readonly #road
  #running = false
  #kicked = false
  #stopped = false
  #failures = 0
  #timer: Timer | null = null
  /** Why nothing goes out; null while it does. */
  reason: string | null = null

  constructor(peer: Peer, road: Road) {
    this.#peer = peer
    this.#road = road
  }

  set peer(peer: Peer) {
    this.#peer = peer
  }

  /** Something is to be sent, or may be sent now. */
  kick(): void {
    this.#kicked = true
    if (!this.#running && !this.#stopped) void this.#run()
  }

  stop(): void {
    this.#stopped = true
    if (this.#timer) clearTimeout(this.#timer)
  }

  async #run(): Promise<void> {
    this.#running = true
    try {
      while (this.#kicked && !this.#stopped) {
        this.#kicked = false
        await this.#pump()
      }
      this.#failures = 0
    } catch (error) {
      if (this.#stopped) return
      this.reason = error instanceof Error ? error.message : String(error)
      this.#failures++
      const asked = error instanceof HomeserverError ? (error.wait ?? 0) : 0
      this.#later(Math.max(asked, backOff(this.#failures)))
    } finally {
      this.#running = false
    }
  }

  async #pump(): Promise<void> {
    const { links } = this.#road
    this.#compose()
    const frames = links.outbox.frames(this.#peer.name)
    if (frames.length === 0) {
      this.reason = null
      return
    }
    const road = await this.#road.room(this.#peer)
    if ('reason' in road) {
      this.reason = road.reason
      return
    }
    const now = this.#road.mail.now()
    const base = frames[0]?.seq ?? 1
    for (const frame of frames) {
      if (this.#stopped) return
      if (frame.sent !== null && !isOverdue(frame, now)) continue
      await this.#send(frame, road.room, base)
    }
    this.reason = null
    const due = links.outbox.frames(this.#peer.name).map((frame) => dueAt(frame) - now)
    if (due.length > 0) this.#later(Math.max(500, Math.min(...due)))
  }

  /** Fills the window from what waits. */
  #compose(): void {
    const { links, mail } = this.#road
    const { outbox } = links
    const peer = this.#peer
    if (peer.person) return this.#composeTexts()
    let room = WINDOW - outbox.frames(peer.name).length
    while (room > 0) {
      const items = outbox.queued(peer.name, ITEMS)
      if (items.length === 0) return
      const taken: number[] = []
      const envelopes: string[] = []
      let size = 0
      for (const { n, message, receipt } of items) {
        if (size > FULL) break
        const envelope = message === null ? null : envelopeFor(mail, links, peer, message)
        const text = envelope ? JSON.stringify(envelope) : receipt
        taken.push(n)
        if (text === null) continue
        envelopes.push(text)
        size += text.length
      }
      const chunks = chunksOf(envelopes)
      outbox.frame(
        peer.name,
        taken,
        chunks.map((chunk) => JSON.stringify(chunk)),
      )
      room -= chunks.length
    }
  }

  /** For a person each message is a text of its own. What became of theirs they see in their client. */
  #composeTexts(): void {
    const { links, mail } = this.#road
    const peer = this.#peer
    for (const { n, message, receipt } of links.outbox.queued(peer.name, WINDOW)) {
      const texts = message === null ? refusalTexts(receipt) : textsFor(mail, links, peer, message)
      const payloads = texts.map((text) => JSON.stringify({ text, message }))
      links.outbox.frame(peer.name, [n], payloads)
    }
  }

  async #say(frame: FrameRow, room: string): Promise<void> {
    const { links, encrypt, put, mail } = this.#road
    const peer = this.#peer
    const { text, message }: { text: object; message: number | null } = JSON.parse(frame.payload)
    let { event, txn } = frame
    if (event === null || txn === null || frame.room !== room) {
      event = await encrypt(room, peer.user, 'm.room.message', text)
      txn = crypto.randomUUID()
      links.outbox.encrypted(frame, room, event, txn)
    }
    const id = await put(room, txn, event)
    if (message !== null) links.map(peer.name, 'event', id, message)
    links.outbox.sent(frame, mail.now())
    links.outbox.received(peer.name, frame.seq, mail.now()) // nobody confirms more than that it is in the room
  }

  async #send(frame: FrameRow, room: string, base: number): Promise<void> {
    if (this.#peer.person) return this.#say(frame, room)
    const { links, encrypt, put, mail } = this.#road
    let { event, txn } = frame
    // what was encrypted for another room, or sent before, is encrypted anew: twice the same would be a replay
    if (event === null || txn === null || frame.room !== room || frame.sent !== null) {
      const chunk: Chunk = JSON.parse(frame.payload)
      const { stream } = links.lane(this.#peer.name)
      const content: Frame = { v: 1, kind: 'frame', stream, seq: frame.seq, base, ...chunk }
      event = await encrypt(room, this.#peer.user, EVENT, content)
      txn = crypto.randomUUID()
      links.outbox.encrypted(frame, room, event, txn)
    }
    await put(room, txn, event)
    links.outbox.sent(frame, mail.now())
  }

  #later(ms: number): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.kick(), ms)
  }
}

/** What a person is told of a text that was not taken. */
function refusalTexts(receipt: string | null): object[] {
  const { state, reason }: { state?: string; reason?: string } = JSON.parse(receipt ?? '{}')
  return state === 'refused' ? [{ msgtype: 'm.notice', body: `not delivered: ${reason ?? 'refused'}` }] : []
}

const dueAt = ({ sent, tries }: FrameRow): number =>
  (sent ?? 0) + (AGAIN[Math.min(Math.max(tries - 1, 0), AGAIN.length - 1)] ?? 0)

const isOverdue = (frame: FrameRow, now: number): boolean => frame.sent !== null && now >= dueAt(frame)
