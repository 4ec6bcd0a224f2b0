// The Matrix rooms of this machine, as the chat commands see them: their facts, asked for once and kept until they change.
import type { ChatRoom } from '../../wire/chat.ts'
import { canonical } from '../../wire/names.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { Link } from '../link.ts'
import { HomeserverError, isJson } from '../matrix/homeserver.ts'
import { readEvents } from '../matrix/sync-answer.ts'
import type { Peer } from '../peers.ts'
import { accountData } from './account-data.ts'
import type { Bindings } from './bindings.ts'
import { factsOf, kindOf, type RoomFacts } from './facts.ts'

const part = encodeURIComponent
const AHEAD_MS = 15_000
const DIRECT_MS = 5_000
const USER = /^@[^\s:]+:\S+$/

export class Board {
  /** room → who types there. */
  readonly typing = new Map<string, readonly string[]>()
  readonly #facts = new Map<string, Promise<RoomFacts>>()
  #direct: { rooms: Promise<ReadonlySet<string>>; until: number } | null = null

  constructor(
    readonly link: Link,
    private readonly bindings: Bindings,
  ) {}

  /** The state of that room has changed. */
  changed(room: string): void {
    this.#facts.delete(room)
  }

  facts(room: string): Promise<RoomFacts> {
    const known = this.#facts.get(room)
    if (known) return known
    const asked = this.#ask(room)
    this.#facts.set(room, asked)
    asked.catch(() => this.#facts.delete(room))
    return asked
  }

  async #ask(room: string): Promise<RoomFacts> {
    const state = await this.link.homeserver.list(`/rooms/${part(room)}/state`)
    return factsOf(readEvents(state))
  }

  /** Rooms for two, as the account data of our user has them; another client may change it, so it is kept for moments only. */
  direct(): Promise<ReadonlySet<string>> {
    const now = Date.now()
    if (this.#direct && now < this.#direct.until) return this.#direct.rooms
    const rooms = accountData(this.link, 'm.direct').then((content) => {
      const lists = Object.values(content ?? {}).filter(Array.isArray)
      return new Set(lists.flat().filter((one) => typeof one === 'string'))
    })
    rooms.catch(() => this.directChanged())
    this.#direct = { rooms, until: now + DIRECT_MS }
    return rooms
  }

  directChanged(): void {
    this.#direct = null
  }

  async describe(room: string): Promise<ChatRoom> {
    const [facts, direct] = await Promise.all([this.facts(room), this.direct()])
    return {
      room,
      name: facts.name,
      topic: facts.topic,
      alias: facts.alias,
      kind: kindOf(facts, { direct: direct.has(room), machine: this.machineOf(room) !== null }),
      membership: 'join',
      encrypted: facts.encrypted,
      members: facts.members,
      invited: facts.invited,
      invited_by: null,
      bound: this.bindings.of(room)?.local ?? null,
    }
  }

  /** Those that we are in, and those that we are invited to. */
  async all(): Promise<ChatRoom[]> {
    const described = await Promise.all(this.link.rooms.ids().map((room) => this.#describeIfIn(room)))
    const joined = described.filter((room) => room !== null)
    const invited = this.link.links.invites().map(
      ({ room, sender }): ChatRoom => ({
        room,
        name: null,
        topic: null,
        alias: null,
        kind: 'room',
        membership: 'invite',
        encrypted: false,
        members: [],
        invited: [this.link.session.user],
        invited_by: sender,
        bound: null,
      }),
    )
    return [...joined, ...invited.filter(({ room }) => !joined.some((one) => one.room === room))]
  }

  /** Null for one that we were put out of a moment ago: /sync will tell. */
  async #describeIfIn(room: string): Promise<ChatRoom | null> {
    try {
      return await this.describe(room)
    } catch (error) {
      if (error instanceof HomeserverError && (error.status === 403 || error.status === 404)) return null
      throw error
    }
  }

  /** The machine whose mail that room carries; null where it carries none. */
  machineOf(room: string): Peer | null {
    const { links, peers } = this.link
    return peers.all().find((peer) => !peer.person && links.lane(peer.name).room === room) ?? null
  }

  /** @throws Refusal `carries_mail` */
  mustNotCarry(room: string): void {
    const machine = this.machineOf(room)
    if (!machine) return
    throw new Refusal('carries_mail', `that room carries the mail of ${machine.name}`, { peer: machine.name })
  }

  /**
   * The room that a text means: an id, an alias, a name, or who is in the room for two.
   * @throws Refusal `unknown_chat`, `ambiguous_room` with the candidates
   */
  async find(text: string): Promise<string> {
    const { rooms } = this.link
    if (text.startsWith('!')) return this.#joined(text, text)
    if (/^#[^:]*:\S+$/.test(text)) return this.#joined(await this.#ofAlias(text), text)
    const peer = this.link.peers.find(text.replace(/^@/, ''))
    if (peer || USER.test(text)) return this.#with(peer, peer?.user ?? text)
    const name = canonical(text.replace(/^#/, ''))
    const named = await Promise.all(rooms.ids().map(async (room) => ({ room, name: (await this.facts(room)).name })))
    const found = named.filter((one) => one.name !== null && canonical(one.name) === name).map(({ room }) => room)
    if (found.length > 1)
      throw new Refusal('ambiguous_room', `${found.length} rooms have that name`, { candidates: found })
    return this.#joined(found[0] ?? null, text)
  }

  /** An id for a room that we need not be in: of an invitation, or a public one. */
  async idOrAlias(text: string): Promise<string> {
    return text.startsWith('!') || /^#[^:]*:\S+$/.test(text) ? text : this.find(text)
  }

  async #ofAlias(alias: string): Promise<string | null> {
    const answer = await this.link.homeserver.call('GET', `/directory/room/${part(alias)}`)
    return typeof answer.room_id === 'string' ? answer.room_id : null
  }

  async #with(peer: Peer | null, user: string): Promise<string> {
    const { links, rooms } = this.link
    const lane = peer ? links.lane(peer.name).room : null
    if (lane !== null && rooms.get(lane)) return lane
    for (const room of rooms.ids()) {
      const one = await this.describe(room)
      if (one.kind === 'dm' && [...one.members, ...one.invited].includes(user)) return room
    }
    throw new Refusal(
      'unknown_chat',
      `there is no room for two with ${user}`,
      {},
      `make one: mail4agent chat create --with ${user}`,
    )
  }

  #joined(room: string | null, text: string): string {
    if (room !== null && this.link.rooms.get(room)) return room
    throw new Refusal('unknown_chat', `this machine is in no room ${text.slice(0, 200)}`)
  }

  /** @throws Refusal `unknown_peer` for what is neither a peer nor a Matrix user */
  userNamed(text: string): string {
    const peer = this.link.peers.find(text.replace(/^@/, ''))
    if (peer) return peer.user
    if (USER.test(text)) return text
    throw new Refusal('unknown_peer', `${text.slice(0, 200)} is neither a pinned peer nor a Matrix user`)
  }

  /** Waits until /sync has told of a room that was just made or joined; nothing is written before its encryption is seen. */
  async seen(room: string, what: 'there' | 'encrypted'): Promise<void> {
    for (const end = Date.now() + AHEAD_MS; Date.now() < end; ) {
      const state = this.link.rooms.get(room)
      if (state && (what === 'there' || state.encrypted)) return
      await Bun.sleep(50)
    }
  }

  /** What came along with an answer of /sync. */
  heard(room: string, ephemeral: readonly unknown[]): void {
    for (const event of ephemeral) {
      if (!isJson(event) || event.type !== 'm.typing' || !isJson(event.content)) continue
      const users = Array.isArray(event.content.user_ids) ? event.content.user_ids : []
      this.typing.set(
        room,
        users.filter((user) => typeof user === 'string'),
      )
    }
  }
}
