// Rooms of the mailbox that are one with a Matrix room: what is posted here is a text there, what a pinned member says there a post here.
//
// The Matrix room is a member of the room here, as `#build@!id:server`, an account of kind `remote` like those of other machines;
// so posts reach it through the same outbox and lane. Posts that came from elsewhere have a remote sender and go on to nobody.

import type { Bound } from '../../store/link/chat-rows.ts'
import type { AccountRow, RoomRow } from '../../store/rows.ts'
import { canonical } from '../../wire/names.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { Opened } from '../crypto/device.ts'
import type { Link } from '../link.ts'
import { Lane } from '../mail/lane.ts'
import { remoteName } from '../mail/remotes.ts'
import { sendEncrypted } from '../matrix/transport.ts'
import type { Peer } from '../peers.ts'
import { hearBound } from './hear-bound.ts'
import { readersOf } from './readers.ts'

export class Bindings {
  readonly #link
  readonly #lanes = new Map<string, Lane>()
  #all = new Map<string, Bound>()

  constructor(link: Link) {
    this.#link = link
    this.#read()
  }

  #read(): void {
    this.#all = new Map(this.#link.links.chat.bound().map((bound) => [bound.room, bound]))
  }

  /** A mailbox that was restored may have lost what a binding needs. */
  start(): void {
    for (const { room, local } of this.#all.values()) {
      const here = this.#link.mail.store.registry.room(local)
      if (here)
        void this.#join(here, room).then(
          () => this.#laneOf(room).kick(),
          () => {},
        )
      else this.#link.links.chat.unbind(room)
    }
    this.#read()
  }

  of(room: string): Bound | null {
    return this.#all.get(room) ?? null
  }

  /** @throws Refusal `unknown_room`, `name_taken` for a Matrix room that is bound to another one, `carries_mail` */
  async bind(room: string, local: string): Promise<void> {
    const { links, mail } = this.#link
    const here = mail.store.registry.room(local)
    if (!here) throw new Refusal('unknown_room', `no room ${local}`, { room: local })
    const bound = this.of(room)
    if (bound && canonical(bound.local) !== canonical(here.name))
      throw new Refusal('name_taken', `that room is bound to #${bound.local}`, { room: bound.local }, UNBIND)
    this.#link.chat.board.mustNotCarry(room)
    links.chat.bind(room, here.name)
    this.#read()
    await this.#join(here, room)
    this.#laneOf(room).kick()
  }

  async unbind(room: string): Promise<void> {
    const { links, mail, remotes } = this.#link
    const bound = this.of(room)
    if (!bound) return
    this.#lanes.get(room)?.stop()
    this.#lanes.delete(room)
    links.chat.unbind(room)
    this.#read()
    const here = mail.store.registry.room(bound.local)
    const member = mail.store.registry.account(remoteName(`#${bound.local}`, room))
    if (here && member) await mail.store.leave(here, member)
    links.forget(room)
    await remotes.remove(room)
  }

  async #join(here: RoomRow, room: string): Promise<void> {
    const { mail, remotes } = this.#link
    const member: AccountRow = await remotes.account(`#${here.name}`, room)
    if (!mail.store.registry.isMember(here.id, member.id)) await mail.store.join(here, member)
  }

  /** A pinned member of a bound room has said something there. */
  async heard(peer: Peer, room: string, event: string, opened: Opened, known: boolean): Promise<void> {
    const bound = this.of(room)
    const heard = bound && hearBound(this.#link, bound, peer, event, opened)
    if (!bound || !heard) return
    const { links, incoming } = this.#link
    // that the room is bound is what lets its members post there
    await incoming.envelope({ ...peer, rooms: [bound.local] }, heard, known)
    const ours = links.ours(peer.name, 'message', heard.id)
    if (ours !== null) links.map(room, 'event', event, ours)
  }

  /** Why nothing goes out to that room; null while it does. */
  reason(room: string): string | null {
    return this.#lanes.get(room)?.reason ?? null
  }

  kick(room: string): void {
    if (this.#all.has(room)) this.#laneOf(room).kick()
  }

  kickAll(): void {
    for (const room of this.#all.keys()) this.#laneOf(room).kick()
  }

  stop(): void {
    for (const lane of this.#lanes.values()) lane.stop()
  }

  #laneOf(room: string): Lane {
    const known = this.#lanes.get(room)
    if (known) return known
    const { links, mail, homeserver, rooms } = this.#link
    links.lane(room)
    const lane = new Lane(asPeer(room), {
      mail,
      links,
      room: async () => {
        const state = rooms.get(room)
        if (!state) return { reason: 'this machine is in that room no more' }
        if (!state.encrypted) return { reason: 'the encryption of the room was not seen yet' }
        const { readers } = readersOf(this.#link, room)
        return readers.length > 0 ? { room } : { reason: 'nobody in that room is pinned' }
      },
      encrypt: (_room, _user, type, content) =>
        this.#link.device.encrypt(room, readersOf(this.#link, room).readers, type, content),
      put: (_room, txn, content) => sendEncrypted(homeserver, room, txn, content),
    })
    this.#lanes.set(room, lane)
    return lane
  }
}

/** To a lane the room is a person who reads plain texts. */
const asPeer = (room: string): Peer => ({
  name: room,
  user: '',
  pin: { by: 'device', key: '' },
  person: true,
  accounts: [],
  rooms: [],
  wake: false,
  dispatch: false,
  added: 0,
})

const UNBIND = 'first: mail4agent chat bind <room> --off'
