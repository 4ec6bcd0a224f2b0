// How the pins stand: held against the keys on the homeserver, and against what a person has seen when two devices were compared.
import type { LinkStore } from '../store/link/link-store.ts'
import { comparePin, type PinState, type SeenDevice } from './crypto/pins.ts'
import type { Link } from './link.ts'
import type { Peer } from './peers.ts'

/** Compares every pin with the keys that are there, and tells of what has changed. */
export async function checkPins(link: Link): Promise<void> {
  for (const peer of link.peers.all()) {
    const before = link.pins.get(peer.user)
    const state = distrusted(link, peer, await comparePin(link.device, peer.user, peer.pin))
    link.pins.set(peer.user, state)
    if (before?.ok && !state.ok)
      link.log.warn('a pin holds no more, mail stops', { peer: peer.name, reason: state.reason })
    for (const { device } of fresh(before, state))
      link.log.warn('a device that nobody pinned gets nothing', { peer: peer.name, device })
    if (!before?.ok && state.ok) link.lane(peer).kick()
  }
}

/** Devices that are unpinned now and were not there before. */
const fresh = (before: PinState | undefined, { unpinned }: PinState): SeenDevice[] =>
  unpinned.filter(({ device }) => !before?.unpinned.some((one) => one.device === device))

const label = (user: string): string => `distrust/${user}`

/** Two people saw different pictures: somebody sits between. Mail to that user stops until it is pinned anew. */
export function distrust(links: LinkStore, user: string, reason: string): void {
  links.setMeta(label(user), reason)
}

/** A person has pinned that user again. */
export function forgive(links: LinkStore, user: string): void {
  if (links.meta(label(user))) links.setMeta(label(user), '')
}

/** Were its devices compared, and not the same? */
export const isDistrusted = (links: LinkStore, user: string): boolean => Boolean(links.meta(label(user)))

function distrusted({ links }: Link, { user }: Peer, state: PinState): PinState {
  const reason = links.meta(label(user))
  return reason ? { ...state, ok: false, reason } : state
}
