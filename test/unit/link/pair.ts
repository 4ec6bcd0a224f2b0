// Two machines without a homeserver: real stores, real lanes; what one puts lies on a wire until the test hands it over.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LinkSeat } from '../../../src/engine/link.ts'
import type { Caller } from '../../../src/engine/mail.ts'
import { Incoming } from '../../../src/link/mail/incoming.ts'
import { Lane } from '../../../src/link/mail/lane.ts'
import { Outgoing } from '../../../src/link/mail/outgoing.ts'
import { Remotes } from '../../../src/link/mail/remotes.ts'
import type { Peer } from '../../../src/link/peers.ts'
import { LinkStore } from '../../../src/store/link/link-store.ts'
import { toAddress } from '../../../src/wire/address.ts'
import { World } from '../engine/world.ts'

export class Side {
  readonly links = LinkStore.open(join(mkdtempSync(join(tmpdir(), 'm4a-link-')), 'link.sqlite'))
  readonly remotes
  readonly incoming
  readonly lane
  /** What was sent, oldest first. */
  readonly wire: object[] = []
  /** The homeserver answers nothing. */
  broken = false
  readonly #outgoing

  private constructor(
    readonly world: World,
    readonly peer: Peer,
    readonly agent: Caller,
  ) {
    this.remotes = new Remotes(world.store)
    const mail = { ...world.mail, link: this.#seat() }
    Object.assign(world, { mail })
    this.incoming = new Incoming(mail, this.links, this.remotes)
    this.lane = new Lane(peer, {
      mail,
      links: this.links,
      room: async () => ({ room: '!room' }),
      encrypt: async (_room, _user, _type, content) => JSON.stringify(content),
      put: async (_room, _txn, content) => {
        if (this.broken) throw new Error('no answer')
        this.wire.push(JSON.parse(content))
        return `$${this.wire.length}`
      },
    })
    this.links.lane(peer.name)
    this.#outgoing = new Outgoing(mail, this.links, () => this.lane.kick())
    this.#outgoing.start()
  }

  static async open(account: string, peer: string, allow: Partial<Peer> = {}): Promise<Side> {
    const world = await World.open()
    const agent = await world.session(await world.account(account))
    const pinned: Peer = {
      name: peer,
      user: `@${peer}:x`,
      pin: { by: 'device', key: 'k' },
      person: false,
      accounts: ['*'],
      rooms: [],
      wake: true,
      dispatch: false,
      added: 1,
      ...allow,
    }
    return new Side(world, pinned, agent)
  }

  #seat(): LinkSeat {
    const { remotes, peer } = this
    return {
      machine: (name) => (name.toLowerCase() === peer.name ? peer.name : null),
      async prepare(to) {
        for (const one of to) {
          const address = toAddress(one)
          if (address.machine?.toLowerCase() === peer.name) await remotes.prepare(address, peer.name)
        }
      },
      fate: () => null,
      warning: () => undefined,
      status: async () => null,
      chat: () => Promise.reject(new Error('not here')),
      administer: () => Promise.reject(new Error('not here')),
    }
  }

  /** Hands over what the other side has sent, or anything else. */
  async take(content: unknown): Promise<void> {
    await this.incoming.take(this.peer, JSON.parse(JSON.stringify(content)))
  }

  async subjects(): Promise<string[]> {
    const page = await this.world.call(this.agent, 'inbox', { state: 'all', limit: 256, max_bytes: 1_000_000 })
    return page.messages.map(({ subject }) => subject)
  }

  async close(): Promise<void> {
    this.#outgoing.stop()
    this.lane.stop()
    await this.world.close()
    this.links.close()
  }
}

/** Both sides talk over a wire that loses nothing any more, until nothing is under way. */
export async function calm(one: Side, other: Side): Promise<void> {
  for (let round = 0; round < 300; round++) {
    for (const side of [one, other]) {
      side.broken = false
      side.world.ahead += 3_600_001 // whatever was lost is due again
      side.lane.kick()
    }
    await Bun.sleep(1)
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      for (const content of from.wire.splice(0)) await to.take(content)
      const ack = to.incoming.ackFor(to.peer)
      if (ack) await from.take(ack)
    }
    const waits = [one, other].some(({ links, peer, wire }) => {
      const { queued, underWay } = links.outbox.counts(peer.name)
      return queued + underWay + wire.length + links.outbox.frames(peer.name).length > 0
    })
    if (!waits) return
  }
  throw new Error('it does not come to an end')
}
