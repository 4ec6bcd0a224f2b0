// What an operator asks of the link: its state, and the peers that it trusts.
import type { AdminAnswer, AdminRequest } from '../wire/admin.ts'
import type { PeerEntry } from '../wire/link.ts'
import { canonical } from '../wire/names.ts'
import { malformed } from '../wire/refusal.ts'
import { rfc3339, rfc3339OrNull } from '../wire/time.ts'
import type { Link } from './link.ts'
import { remoteName } from './mail/remotes.ts'
import { checkUser, type Peer, type Pin, pairingToken, readFingerprint, showFingerprint } from './peers.ts'

type Allow = Pick<AdminRequest<'link/peer/allow'>, 'accounts' | 'rooms' | 'share' | 'wake' | 'dispatch'>

export function identityOf(link: Link): AdminAnswer<'link/setup'> {
  const { session, device, homeserver } = link
  return {
    homeserver: homeserver.base,
    user: session.user,
    device: session.device,
    fingerprint: showFingerprint(device.fingerprint),
    token: pairingToken(session.user, device.fingerprint),
    account_key: link.accountKey === null ? null : showFingerprint(link.accountKey),
  }
}

export function statusOf(link: Link): AdminAnswer<'link/status'> {
  const { links } = link
  return {
    state: link.trouble === null ? 'on' : 'down',
    reason: link.trouble,
    identity: identityOf(link),
    last_sync: rfc3339OrNull(link.lastSync),
    peers: link.peers.all().map((peer) => describe(link, peer)),
    undecryptable: links
      .unread()
      .slice(-100)
      .map(({ event, sender, reason, at }) => ({ event, sender, reason, at: rfc3339(at) })),
    quarantined: links.quarantined().map((one) => ({ ...one, at: rfc3339(one.at) })),
  }
}

function describe(link: Link, peer: Peer): PeerEntry {
  const pin = link.pins.get(peer.user)
  const withheld = link.withheld.get(peer.user)
  const alarm = pin !== undefined && !pin.ok
  const reason = alarm
    ? pin.reason
    : (link.lane(peer).reason ?? (withheld ? `it keeps keys back from this machine: ${withheld.code}` : null))
  const { queued, underWay } = link.links.outbox.counts(peer.name)
  return {
    name: peer.name,
    user: peer.user,
    by: peer.pin.by,
    fingerprint: showFingerprint(peer.pin.key),
    person: peer.person,
    accounts: peer.accounts,
    rooms: peer.rooms,
    shared: sharedWith(link, peer),
    wake: peer.wake,
    dispatch: peer.dispatch,
    state: alarm ? 'alarm' : reason === null && pin !== undefined ? 'ready' : 'waiting',
    reason,
    queued,
    under_way: underWay,
  }
}

function sharedWith(link: Link, peer: Peer): string[] {
  const { registry } = link.mail.store
  return registry.rooms().flatMap((room) => {
    const account = registry.account(remoteName(`#${room.name}`, peer.name))
    return account && registry.isMember(room.id, account.id) ? [room.name] : []
  })
}

/** @throws Refusal `name_taken`, `malformed` */
export async function addPeer(link: Link, request: AdminRequest<'link/peer/add'>): Promise<PeerEntry> {
  const user = checkUser(request.user)
  if (user === link.session.user) throw malformed('user', 'is this machine itself; each machine has a user of its own')
  const peer: Peer = {
    name: request.name,
    user,
    pin: pinOf(request),
    person: request.person ?? false,
    accounts: [],
    rooms: [],
    wake: false,
    dispatch: false,
    added: link.mail.now(),
  }
  link.peers.add(peer)
  await allow(link, peer, request)
  await link.pinned(link.peers.get(peer.name))
  return describe(link, link.peers.get(peer.name))
}

const pinOf = ({ fingerprint, master }: { fingerprint: string; master?: boolean | null }): Pin => ({
  by: master ? 'master' : 'device',
  key: readFingerprint(fingerprint),
})

export async function allowPeer(link: Link, request: AdminRequest<'link/peer/allow'>): Promise<PeerEntry> {
  const peer = link.peers.get(request.name)
  await allow(link, peer, request)
  return describe(link, link.peers.get(peer.name))
}

async function allow(link: Link, peer: Peer, request: Allow): Promise<void> {
  const rooms = request.rooms ?? peer.rooms
  link.peers.put({
    ...peer,
    accounts: request.accounts ?? peer.accounts,
    rooms: [...new Set([...rooms, ...(request.share ?? [])].map((name) => name.replace(/^#/, '')))],
    wake: request.wake ?? peer.wake,
    dispatch: request.dispatch ?? peer.dispatch,
  })
  if (request.share != null) await share(link, peer, request.share)
}

/** A shared room has the room of that machine as a member: what is posted here goes there too. */
async function share(link: Link, peer: Peer, names: readonly string[]): Promise<void> {
  const { store } = link.mail
  const wanted = new Set(names.map((name) => canonical(name.replace(/^#/, ''))))
  for (const name of wanted) if (!store.registry.room(name)) throw malformed('share', `there is no room ${name} here`)
  for (const room of store.registry.rooms()) {
    const shared = wanted.has(canonical(room.name))
    const known = store.registry.account(remoteName(`#${room.name}`, peer.name))
    if (!shared && !known) continue
    const member = known ?? (await link.remotes.account(`#${room.name}`, peer.name))
    const is = store.registry.isMember(room.id, member.id)
    if (shared && !is) await store.join(room, member)
    if (!shared && is) await store.leave(room, member)
  }
}

export async function rotatePeer(link: Link, request: AdminRequest<'link/peer/rotate'>): Promise<PeerEntry> {
  const peer = { ...link.peers.get(request.name), pin: pinOf(request) }
  link.peers.put(peer)
  await link.pinned(peer)
  return describe(link, peer)
}

export async function removePeer(link: Link, request: AdminRequest<'link/peer/remove'>): Promise<object> {
  const peer = link.peers.get(request.name)
  link.peers.remove(peer)
  await link.unpinned(peer)
  return {}
}

export function pendingOf(link: Link): AdminAnswer<'link/peer/pending'> {
  return {
    devices: link.pending().map((one) => ({ ...one, fingerprint: showFingerprint(one.fingerprint) })),
    invites: link.links.invites().map(({ room, sender, at }) => ({ room, sender, at: rfc3339(at) })),
  }
}
