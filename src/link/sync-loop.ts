// /sync, again and again: keys first, then rooms, then what was said in them; how far it came is written last. Matrix CS §6.4.
import { heedReads } from './chat/reads.ts'
import { isComparison, type Opened } from './crypto/device.ts'
import type { Link } from './link.ts'
import { EVENT } from './mail/envelope.ts'
import { hearPerson } from './mail/hear-person.ts'
import { backOff, HomeserverError } from './matrix/homeserver.ts'
import { type JoinedRoom, type RoomEvent, readEvents, readSync, type SyncAnswer } from './matrix/sync-answer.ts'
import { pageBack, sendEncrypted } from './matrix/transport.ts'
import type { Peer } from './peers.ts'
import { checkPins, isDistrusted } from './trust.ts'

const POLL_MS = 30_000
/** Pages of a hundred events that are looked for where /sync left some out. */
const PAGES = 50
const FILTER = JSON.stringify({
  presence: { not_types: ['*'] },
  account_data: { not_types: ['*'] },
  room: {
    ephemeral: { types: ['m.receipt', 'm.typing'] },
    account_data: { not_types: ['*'] },
    include_leave: true,
    timeline: { limit: 100 },
  },
})

export class SyncLoop {
  last: number | null = null
  trouble: string | null = null
  #stopped = false
  #ended: Promise<void> = Promise.resolve()
  #wake: (() => void) | null = null

  constructor(private readonly link: Link) {}

  start(): void {
    this.#ended = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#wake?.()
    await this.#ended
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#stopped; ) {
      try {
        await this.#once(failures === 0 && this.last !== null ? POLL_MS : 0)
        failures = 0
        this.trouble = null
        this.last = Date.now()
      } catch (error) {
        if (this.#stopped) return
        failures++
        this.trouble = error instanceof Error ? error.message : String(error)
        if (failures === 1) this.link.log.warn('the homeserver does not answer as it should', { reason: this.trouble })
        const asked = error instanceof HomeserverError ? (error.wait ?? 0) : 0
        await this.#sleep(Math.max(asked, backOff(failures)))
      }
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async #once(timeout: number): Promise<void> {
    const { homeserver, links, session, device, rooms } = this.link
    const since = links.meta('since')
    const query = { since, timeout, filter: FILTER }
    const answer = await homeserver.call('GET', '/sync', null, { query, ms: timeout + 60_000 })
    const sync = readSync(answer, session.user)
    await device.receive(sync)
    await this.#tried(() => this.link.verifications.heed(sync.toDevice))
    for (const room of sync.joined) {
      if (since === null || rooms.get(room.id) === null) this.link.chat.arrivals.began(room)
      rooms.joined(room.id)
      for (const event of [...room.state, ...room.timeline]) rooms.apply(room.id, event)
      this.link.chat.heard(room)
    }
    for (const room of sync.gone) {
      rooms.gone(room)
      links.uninvited(room)
    }
    await this.#keys(sync)
    for (const { id, sender, direct } of sync.invited) await this.#tried(() => this.link.invited(id, sender, direct))
    if (sync.toDevice.length > 0) await this.retryUnread()
    for (const room of sync.joined)
      for (const event of [...(await this.#gap(room, since)), ...room.timeline]) await this.#event(room.id, event)
    await this.#acknowledge()
    for (const room of sync.joined) await this.#tried(() => heedReads(this.link, room))
    await this.#tried(() => this.link.verifications.advance())
    links.synced(sync.next, rooms.changes())
    if (sync.joined.length === 0) return
    for (const peer of this.link.peers.all()) this.link.lane(peer).kick()
    this.link.chat.bindings.kickAll()
  }

  /** What the homeserver refuses of our keys must not keep mail from coming in: it is tried again with the next answer. */
  async #keys(sync: SyncAnswer): Promise<void> {
    await this.#tried(() => this.link.settle())
    if (sync.changed.length > 0 || this.link.pins.size < this.link.peers.all().length)
      await this.#tried(() => checkPins(this.link))
  }

  async #tried(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (error instanceof HomeserverError && error.status === 0) throw error
      this.link.log.warn('the homeserver refused', { reason: error instanceof Error ? error.message : String(error) })
    }
  }

  /** Events that /sync left out, oldest first. */
  async #gap(room: JoinedRoom, since: string | null): Promise<RoomEvent[]> {
    if (room.gap === null || since === null) return []
    const events: RoomEvent[] = []
    let from: string | null = room.gap
    for (let page = 0; page < PAGES && from !== null; page++) {
      const answer = await pageBack(this.link.homeserver, room.id, from, since)
      const chunk = readEvents(answer.chunk)
      events.push(...chunk)
      from = chunk.length > 0 && typeof answer.end === 'string' ? answer.end : null
    }
    return events.reverse()
  }

  async #event(room: string, event: RoomEvent): Promise<void> {
    const { peers, session } = this.link
    if (event.sender === session.user || event.state_key !== undefined) return
    const peer = peers.byUser(event.sender)
    if (!peer) return this.#compare(room, event)
    if (event.type === 'm.room.encrypted') {
      if (typeof event.content.ciphertext === 'string') await this.#open(room, event, peer) // a redacted one says nothing
    } else if (isComparison(event)) await this.#openly(room, event)
    else if (event.type === EVENT || event.type === 'm.room.message')
      this.#quarantine(peer, event, null, 'it came in clear')
  }

  /** Somebody whom nobody has pinned is heard only where devices are compared, and only about that. */
  async #compare(room: string, event: RoomEvent): Promise<void> {
    const { device, verifications } = this.link
    if (!verifications.isAbout(room, event.sender)) return
    if (event.type !== 'm.room.encrypted') return this.#openly(room, event)
    const opened = await device.decrypt(room, event)
    const flow = 'verification' in opened ? opened.verification : null
    if (flow !== null) await this.#tried(() => verifications.heedRoom(room, event.sender, flow))
  }

  /** What is about a comparison may come in clear, and is only that. */
  async #openly(room: string, event: RoomEvent): Promise<void> {
    const { device, verifications } = this.link
    const flow = await device.hearOpenly(room, event)
    if (flow !== null) await this.#tried(() => verifications.heedRoom(room, event.sender, flow))
  }

  async #open(room: string, event: RoomEvent, peer: Peer): Promise<void> {
    const { device, links, mail } = this.link
    const opened = await device.decrypt(room, event)
    if ('reason' in opened) {
      const reason = opened.withheld === null ? opened.reason : withheldReason(opened.withheld)
      const { event_id, sender } = event
      links.keepUnread({ event: event_id, room, sender, raw: JSON.stringify(event), reason, at: mail.now() })
      return
    }
    links.forgetUnread(event.event_id)
    const { verification } = opened
    if (verification !== null) return this.#tried(() => this.link.verifications.heedRoom(room, peer.user, verification))
    if (!this.isPinned(peer, opened)) return this.#quarantine(peer, event, opened, 'nobody has pinned that device')
    if (isDistrusted(links, peer.user))
      return this.#quarantine(peer, event, opened, 'its devices were compared and were not the same')
    const known = this.link.chat.arrivals.isKnown(room, event)
    if (opened.type === 'm.room.message' && this.link.chat.bindings.of(room))
      return this.#tried(() => this.link.chat.bindings.heard(peer, room, event.event_id, opened, known))
    if (peer.person) {
      const { device, content } = opened
      const text = { room, event: event.event_id, device: device ?? '', content, known }
      if (opened.type === 'm.room.message') await this.#tried(() => hearPerson(this.link, peer, text))
      return
    }
    if (opened.type !== EVENT) return
    this.link.heardIn(peer, room)
    if ((await this.link.incoming.take(peer, opened.content)) === 'ack') this.link.lane(peer).kick()
  }

  isPinned(peer: Peer, { fingerprint, signedByOwner }: Opened): boolean {
    if (peer.pin.by === 'device') return fingerprint === peer.pin.key
    return signedByOwner && this.link.pins.get(peer.user)?.ok === true
  }

  #quarantine(peer: Peer, { event_id, sender }: RoomEvent, opened: Opened | null, why: string): void {
    const { links, log, mail } = this.link
    const device = opened?.device ?? null
    const fingerprint = opened?.fingerprint ?? null
    links.quarantine({ event: event_id, peer: peer.name, sender, device, fingerprint, why, at: mail.now() })
    log.warn('mail is kept apart and read by nobody', { peer: peer.name, device, why })
  }

  /** Keys may come after what they open. */
  async retryUnread(): Promise<void> {
    for (const { room, raw, sender } of this.link.links.unread()) {
      const peer = this.link.peers.byUser(sender)
      const [event] = readEvents([JSON.parse(raw)])
      if (peer && event) await this.#open(room, event, peer)
    }
  }

  /** Tells each peer whose frames came in how far they have. One that cannot be told now sends again, and is told then. */
  async #acknowledge(): Promise<void> {
    const { incoming, peers, homeserver } = this.link
    for (const name of incoming.due) {
      incoming.due.delete(name)
      const peer = peers.find(name)
      const ack = peer ? incoming.ackFor(peer) : null
      const road = peer && ack ? await this.link.roomTo(peer) : null
      if (!peer || !ack || !road || 'reason' in road) continue
      await this.#tried(async () => {
        const content = await this.link.encrypt(road.room, peer.user, EVENT, ack)
        await sendEncrypted(homeserver, road.room, crypto.randomUUID(), content)
      })
    }
  }
}

const withheldReason = (code: string): string =>
  code === 'm.unverified' ? 'that machine has not pinned this one' : `the sender keeps the key back: ${code}`
