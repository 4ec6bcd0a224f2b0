// Peers: other machines that a person has pinned. They lie sealed in the vault; what is not there is trusted by nobody.
import { canonical } from '../wire/names.ts'
import { malformed, Refusal } from '../wire/refusal.ts'
import type { Vault } from './vault/vault.ts'

/** A device's own key, or the cross-signing key of the account, which vouches for devices. Unpadded base64. */
export type Pin = { by: 'device' | 'master'; key: string }

export type Peer = {
  /** What we call that machine: `@name` behind an address. */
  name: string
  /** Its Matrix user. */
  user: string
  pin: Pin
  /** Somebody with a Matrix client, who reads and writes plain texts. */
  person: boolean
  /** Accounts of ours that it may write to; `*` for all. */
  accounts: string[]
  /** Rooms of ours that it may post to. */
  rooms: string[]
  /** May its mail wake agents? May it have agents started? */
  wake: boolean
  dispatch: boolean
  added: number
}

const LABEL = 'peer/'
const KEY = /^[A-Za-z0-9+/]{43}$/
/** Matrix CS appendices, user identifiers: at most 255 bytes. */
const USER = /^@[!-9;-~]{1,200}:[A-Za-z0-9.:[\]-]{1,200}$/

export class Peers {
  readonly #vault
  #all: Map<string, Peer>

  constructor(vault: Vault) {
    this.#vault = vault
    this.#all = read(vault)
  }

  all(): Peer[] {
    return [...this.#all.values()]
  }

  find(name: string): Peer | null {
    return this.#all.get(canonical(name)) ?? null
  }

  /** @throws Refusal `unknown_peer` */
  get(name: string): Peer {
    const peer = this.find(name)
    if (!peer) throw new Refusal('unknown_peer', `no peer ${name}`, { peer: name })
    return peer
  }

  byUser(user: string): Peer | null {
    return this.all().find((peer) => peer.user === user) ?? null
  }

  /** @throws Refusal `name_taken` for a name or a user that is pinned */
  add(peer: Peer): void {
    const taken = this.find(peer.name) ?? this.byUser(peer.user)
    if (taken) throw new Refusal('name_taken', `${taken.user} is pinned as ${taken.name}`, { peer: taken.name }, ROTATE)
    this.put(peer)
  }

  put(peer: Peer): void {
    this.#vault.change({ [LABEL + canonical(peer.name)]: JSON.stringify(peer) })
    this.#all = read(this.#vault)
  }

  remove(peer: Peer): void {
    this.#vault.change({ [LABEL + canonical(peer.name)]: null })
    this.#all = read(this.#vault)
  }
}

const ROTATE = 'another key for a known machine: mail4agent link peer rotate; another machine: choose another name'

function read(vault: Vault): Map<string, Peer> {
  const peers = new Map<string, Peer>()
  for (const [label, text] of Object.entries(vault.secrets))
    if (label.startsWith(LABEL)) {
      const peer: Peer = JSON.parse(text) // sealed by us: nobody else can have written it
      peers.set(canonical(peer.name), peer)
    }
  return peers
}

/** The key as it is compared: spaces between the groups and padding do not count. @throws Refusal `malformed` */
export function readFingerprint(text: string): string {
  const key = text.replaceAll(/[\s=]/g, '')
  if (!KEY.test(key)) throw malformed('fingerprint', 'is no key: 43 letters, digits, + or /, with or without spaces')
  return key
}

/** In groups of four, to be read aloud. */
export const showFingerprint = (key: string): string => key.replaceAll(/(.{4})(?=.)/g, '$1 ')

/** @throws Refusal `malformed` */
export function checkUser(text: string): string {
  if (!USER.test(text)) throw malformed('user', 'is no Matrix user: @name:server')
  return text
}

/** All that one side has to know of the other, in one line that may be sent in the open: it holds no secret. */
const TOKEN = 'm4a1:'
export const pairingToken = (user: string, key: string): string =>
  TOKEN + Buffer.from(JSON.stringify([user, key])).toString('base64url')

/** @throws Refusal `malformed` */
export function readToken(text: string): { user: string; key: string } {
  let parts: unknown = null
  try {
    parts = JSON.parse(Buffer.from(text.slice(TOKEN.length), 'base64url').toString())
  } catch {}
  if (!text.startsWith(TOKEN) || !Array.isArray(parts)) throw malformed('token', 'is no pairing line')
  return { user: checkUser(String(parts[0])), key: readFingerprint(String(parts[1])) }
}
