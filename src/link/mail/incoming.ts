// Frames of a peer, put into their order: each is taken once, and the peer is told up to which.
import type { Mail } from '../../engine/mail.ts'
import type { LinkStore } from '../../store/link/link-store.ts'
import type { Peer } from '../peers.ts'
import { deliver } from './deliver.ts'
import { type Ack, type Envelope, envelopesOf, type Frame, isAck, isFrame, WHOLE_MOST } from './envelope.ts'
import { heedReceipt, refusalReceipt } from './receipts.ts'
import type { Remotes } from './remotes.ts'

/** Milliseconds after which a frame that others have overtaken counts as lost. */
const LOST_MS = 2_000

export type Taken = 'frame' | 'ack' | 'odd'

export class Incoming {
  constructor(
    private readonly mail: Mail,
    private readonly links: LinkStore,
    private readonly remotes: Remotes,
  ) {}

  /** Peers whose frames came in since they were last told. */
  readonly due = new Set<string>()

  /**
   * Takes what a pinned device of that peer has sent. It is on the disk when this resolves.
   * @throws Refusal where the store cannot take it now; the same may come again
   */
  async take(peer: Peer, content: unknown): Promise<Taken> {
    if (isAck(content)) return this.#acknowledged(peer, content)
    if (!isFrame(content)) return 'odd'
    this.due.add(peer.name)
    await this.#frame(peer, content)
    return 'frame'
  }

  /** What to tell a peer: how far its stream has come here. */
  ackFor(peer: Peer): Ack | null {
    const { theirStream, theirNext } = this.links.lane(peer.name)
    if (theirStream === null) return null
    const missing = this.links.holds(peer.name) ? { missing: theirNext } : {}
    return { v: 1, kind: 'ack', stream: theirStream, up_to: theirNext - 1, ...missing }
  }

  #acknowledged(peer: Peer, { stream, up_to: upTo, missing }: Ack): Taken {
    if (stream !== this.links.lane(peer.name).stream) return 'ack'
    const now = this.mail.now()
    this.links.outbox.received(peer.name, upTo, now)
    if (missing !== undefined) this.links.outbox.lost(peer.name, missing, now - LOST_MS)
    return 'ack'
  }

  async #frame(peer: Peer, frame: Frame): Promise<void> {
    const { links } = this
    const lane = links.lane(peer.name)
    if (lane.theirStream !== frame.stream) {
      // a stream begins with its time: one that was replaced does not come back
      if (lane.theirStream !== null && frame.stream < lane.theirStream) return
      links.newStream(peer.name, frame.stream)
      links.outbox.anew(peer.name)
      lane.theirNext = 1
    }
    // what lies before the base has arrived, so the sender says: here it has not, after a new beginning of ours
    let next = Math.max(lane.theirNext, frame.base)
    if (next > lane.theirNext) links.taken(peer.name, next - 1, '')
    if (frame.seq < next) return
    if (frame.seq > next) {
      links.hold(peer.name, frame.seq, JSON.stringify(frame))
      return
    }
    for (let one: Frame | null = frame; one !== null; next++) {
      await this.#whole(peer, one)
      const held = links.heldFrame(peer.name, one.seq + 1)
      one = held === null ? null : JSON.parse(held)
    }
  }

  async #whole(peer: Peer, { seq, more, data }: Frame): Promise<void> {
    const { links } = this
    const text = links.partial(peer.name) + data
    if (more && text.length <= WHOLE_MOST) return links.taken(peer.name, seq, text)
    if (!more) for (const envelope of envelopesOf(text).known) await this.envelope(peer, envelope)
    links.taken(peer.name, seq, '')
  }

  /** Takes one envelope; the same again changes nothing. `known`: it wakes nobody. */
  async envelope(peer: Peer, envelope: Envelope, known = false): Promise<void> {
    const { mail, links, remotes } = this
    if (envelope.kind === 'receipt') return heedReceipt(mail, links, remotes, peer, envelope)
    const refused = await deliver(mail, links, remotes, peer, envelope, known)
    if (refused.length > 0) links.outbox.queue(refused.map((one) => refusalReceipt(peer, envelope.id, one)))
  }
}
