// The link: this machine's device on a homeserver, and through it the mailboxes of the machines that a person has pinned.
//
// Mail for another machine lies in our store as in any mailbox (mail/remotes.ts). From there a subscriber of the log puts it into
// the outbox, a lane per peer sends it (mail/lane.ts), /sync brings what others sent (sync-loop.ts), frames put it in order
// (mail/incoming.ts), and the peer's allow-list decides what of it becomes mail here (mail/deliver.ts). Trust is a pin in the
// vault, never the word of the homeserver.
import { rmSync } from 'node:fs'
import type { Mail } from '../engine/mail.ts'
import { installIndexedDb } from '../store/link/indexeddb.ts'
import type { LinkStore } from '../store/link/link-store.ts'
import { Refusal } from '../wire/refusal.ts'
import { Chat } from './chat/chat.ts'
import type { Device } from './crypto/device.ts'
import { dropPin, type PinState, type SeenDevice } from './crypto/pins.ts'
import { Incoming } from './mail/incoming.ts'
import { Lane } from './mail/lane.ts'
import { Outgoing } from './mail/outgoing.ts'
import { Remotes } from './mail/remotes.ts'
import { Homeserver } from './matrix/homeserver.ts'
import { type Session, uploadSigningKeys } from './matrix/login.ts'
import { Rooms } from './matrix/rooms.ts'
import { createRoom, inRoom, inviteDirectly, sendEncrypted } from './matrix/transport.ts'
import { openDevice, openStore } from './open.ts'
import { type Peer, Peers } from './peers.ts'
import { SyncLoop } from './sync-loop.ts'
import { checkPins, forgive } from './trust.ts'
import type { Vault } from './vault/vault.ts'
import { Verifications } from './verifications.ts'

export type LinkLog = { info(text: string, facts?: object): void; warn(text: string, facts?: object): void }
/** A device that another machine has asked for keys and was refused, by user. */
export type Withheld = { user: string; code: string; at: number }

const REINVITE_MS = 60_000

export class Link {
  readonly peers: Peers
  readonly remotes: Remotes
  readonly rooms: Rooms
  readonly incoming: Incoming
  readonly chat: Chat
  readonly sync: SyncLoop
  /** How each pin stands, by user; absent while it was not looked at. */
  readonly pins = new Map<string, PinState>()
  readonly withheld = new Map<string, Withheld>()
  readonly verifications: Verifications
  /** The cross-signing key of our user; null where there is none, or it was not looked at yet. */
  accountKey: string | null = null
  readonly #lanes = new Map<string, Lane>()
  readonly #outgoing
  readonly #invitedAt = new Map<string, number>()
  readonly #closers: (() => void)[]
  readonly #stopping

  private constructor(
    readonly mail: Mail,
    readonly log: LinkLog,
    readonly vault: Vault,
    readonly session: Session,
    readonly homeserver: Homeserver,
    readonly links: LinkStore,
    readonly device: Device,
    stopping: AbortController,
    closers: (() => void)[],
  ) {
    this.#stopping = stopping
    this.#closers = closers
    this.peers = new Peers(vault)
    this.remotes = new Remotes(mail.store)
    this.rooms = new Rooms(links)
    this.incoming = new Incoming(mail, links, this.remotes)
    this.#outgoing = new Outgoing(mail, links, (peer) => this.kick(peer))
    this.verifications = new Verifications(this)
    this.sync = new SyncLoop(this)
    this.chat = new Chat(this)
  }

  /**
   * Opens the device that the vault names and begins to sync.
   * @throws Refusal `link_restored` for a copy of a device store, `already_running`, `damaged_store`, `vault_damaged`
   */
  static async open(folder: string, mail: Mail, vault: Vault, log: LinkLog): Promise<Link> {
    const closers: (() => void)[] = []
    const stopping = new AbortController()
    try {
      const session: Session = JSON.parse(vault.get('session') ?? 'null')
      const base = vault.get('homeserver')
      const key = Buffer.from(vault.get('store-key') ?? '', 'base64')
      if (!session || base === null || key.length !== 32)
        throw new Refusal('vault_damaged', 'the vault holds no device')
      const links = openStore(folder, vault)
      closers.push(() => links.close())
      links.belongTo(mail.store.epoch)
      closers.push(installIndexedDb(links.journal))
      const homeserver = new Homeserver(base, session.token, stopping.signal)
      const withheld = (user: string, code: string) => link?.withheld.set(user, { user, code, at: mail.now() })
      let link: Link | null = null
      const device = await openDevice(session, key, homeserver, withheld)
      closers.push(() => device.close())
      link = new Link(mail, log, vault, session, homeserver, links, device, stopping, closers)
      link.#start()
      return link
    } catch (error) {
      for (const close of closers.reverse()) close()
      throw error
    }
  }

  #start(): void {
    for (const peer of this.peers.all()) this.#laneOf(peer).kick()
    this.chat.bindings.start()
    this.#outgoing.start()
    this.sync.start()
  }

  get lastSync(): number | null {
    return this.sync.last
  }

  /** Why the homeserver does not answer; null while it does. */
  get trouble(): string | null {
    return this.sync.trouble
  }

  lane(peer: Peer): Lane {
    return this.#laneOf(peer)
  }

  kick(peer: string): void {
    const known = this.peers.find(peer)
    if (known) this.#laneOf(known).kick()
    else this.chat.bindings.kick(peer)
  }

  #laneOf(peer: Peer): Lane {
    const known = this.#lanes.get(peer.name)
    if (known) {
      known.peer = peer
      return known
    }
    const lane = new Lane(peer, {
      mail: this.mail,
      links: this.links,
      room: (one) => this.roomTo(one),
      encrypt: (room, user, type, content) => this.encrypt(room, user, type, content),
      put: (room, txn, content) => sendEncrypted(this.homeserver, room, txn, content),
    })
    this.#lanes.set(peer.name, lane)
    return lane
  }

  /** Where it is made sure that nothing leaves in clear: no encryption seen, no sending. */
  async encrypt(room: string, user: string, type: string, content: object): Promise<string> {
    if (this.rooms.get(room)?.encrypted !== true) throw new Error('the encryption of the room was not seen yet')
    return this.device.encrypt(room, [user], type, content)
  }

  /** The room to a peer, if its pin holds and it is there; one of the two makes it. */
  async roomTo(peer: Peer): Promise<{ room: string } | { reason: string }> {
    const pin = this.pins.get(peer.user)
    if (pin === undefined) return { reason: 'its keys were not looked at yet' }
    if (!pin.ok) return { reason: pin.reason ?? 'its pin does not hold' }
    const { room } = this.links.lane(peer.name)
    const state = room === null ? null : this.rooms.get(room)
    if (room !== null && state) {
      if (!state.encrypted) return { reason: 'the encryption of the room was not seen yet' }
      const membership = state.members[peer.user]
      if (membership === 'join') return { room }
      if (membership === undefined && this.#isMaker(peer)) await this.#invite(room, peer)
      return { reason: 'that machine has not accepted the invitation yet; it has to pin this one' }
    }
    if (!this.#isMaker(peer) && this.#adopt(peer)) return this.roomTo(peer)
    if (!this.#isMaker(peer))
      return { reason: 'the invitation of that machine has not come yet; it has to pin this one' }
    if (room !== null && Date.now() - (this.#invitedAt.get(peer.name) ?? 0) < REINVITE_MS)
      return { reason: 'the room is being made' }
    this.#invitedAt.set(peer.name, Date.now())
    this.links.setRoom(peer.name, await createRoom(this.homeserver, peer.user))
    return { reason: 'the room is being made' }
  }

  /** Of two machines one makes the room: else there would be two. */
  #isMaker(peer: Peer): boolean {
    return peer.person || this.session.user < peer.user
  }

  /** An earlier device of ours was in the room to that peer already: nobody will invite us again. */
  #adopt(peer: Peer): boolean {
    const room = this.rooms.between(this.session.user, peer.user)
    if (room !== null) this.links.setRoom(peer.name, room)
    return room !== null
  }

  /** A pinned device of that peer speaks in this room: it made the room, so that is the one. */
  heardIn(peer: Peer, room: string): void {
    if ((peer.person || !this.#isMaker(peer)) && this.links.lane(peer.name).room !== room)
      this.links.setRoom(peer.name, room)
  }

  async #invite(room: string, peer: Peer): Promise<void> {
    const last = this.#invitedAt.get(peer.name) ?? 0
    if (Date.now() - last < REINVITE_MS) return
    this.#invitedAt.set(peer.name, Date.now())
    await inviteDirectly(this.homeserver, room, peer.user)
  }

  /** A pinned user invites us: that is the room to it. Anybody else waits for a person, and so does a machine with further rooms. */
  async invited(room: string, sender: string, direct = true): Promise<void> {
    const peer = this.peers.byUser(sender)
    if (!peer || (!peer.person && (this.#isMaker(peer) || !direct))) {
      this.links.invited(room, sender, this.mail.now())
      return
    }
    await inRoom(this.homeserver, room, 'join')
    const known = this.links.lane(peer.name).room
    if (direct || known === null) this.links.setRoom(peer.name, room)
    this.links.uninvited(room)
  }

  /** Follows the keys of all peers, and ours. */
  async settle(): Promise<void> {
    await this.device.settle([this.session.user, ...this.peers.all().map(({ user }) => user)])
    this.accountKey ??= await this.device.masterKey(this.session.user)
  }

  async pinned(peer: Peer): Promise<void> {
    forgive(this.links, peer.user)
    this.links.lane(peer.name)
    this.links.outbox.anew(peer.name)
    await this.settle()
    await this.device.query(peer.user)
    await checkPins(this)
    for (const { room, sender } of this.links.invites()) if (sender === peer.user) await this.invited(room, sender)
    this.lane(peer).kick()
  }

  async unpinned(peer: Peer): Promise<void> {
    this.#lanes.get(peer.name)?.stop()
    this.#lanes.delete(peer.name)
    this.pins.delete(peer.user)
    const { room } = this.links.lane(peer.name)
    this.links.forget(peer.name)
    await this.remotes.remove(peer.name)
    await dropPin(this.device, peer.user)
    if (room !== null) await inRoom(this.homeserver, room, 'leave').catch(() => {}) // it trusts nobody there any more
  }

  /** Keys that peers have and nobody has pinned. */
  pending(): SeenDevice[] {
    return [...this.pins.values()].flatMap(({ unpinned }) => unpinned)
  }

  /** Our own cross-signing keys: clients of people talk to signed devices only. */
  async crossSign(): Promise<void> {
    try {
      await this.device.crossSign(this.session.user, (keys) => uploadSigningKeys(this.homeserver, keys, this.session))
    } catch (error) {
      this.log.warn('this device is not cross-signed', {
        reason: error instanceof Error ? error.message : String(error),
      })
    }
  }

  async stop(): Promise<void> {
    this.#outgoing.stop()
    for (const lane of this.#lanes.values()) lane.stop()
    this.chat.bindings.stop()
    this.#stopping.abort()
    await this.sync.stop()
    for (const close of this.#closers.reverse()) close()
  }
}

/** Takes away every file of the link. */
export function forgetLink(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}
