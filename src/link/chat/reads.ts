// How far the others have read: read receipts, Matrix CS §11.6.2. They are the homeserver's word; a person's open our mail.
import type { Link } from '../link.ts'
import { partOf } from '../mail/compose.ts'
import { localpart, sessionOf } from '../mail/people.ts'
import { isJson, type Json } from '../matrix/homeserver.ts'
import { type JoinedRoom, readEvents } from '../matrix/sync-answer.ts'
import type { Peer } from '../peers.ts'

const part = encodeURIComponent
/** Events before one that is none of our mail among which the last one of ours is looked for. */
const LOOK_BACK = 40

type Read = { user: string; event: string; at: number }

/** Remembers who has read what, and marks what a person has read of ours as opened. */
export async function heedReads(link: Link, { id: room, ephemeral }: JoinedRoom): Promise<void> {
  for (const { user, event, at } of ephemeral.flatMap(readsIn)) {
    if (user === link.session.user) continue
    link.links.chat.saw(room, { user, event, at })
    const peer = link.peers.byUser(user)
    if (!peer?.person) continue
    if (link.links.lane(peer.name).room === room) await opened(link, peer.name, room, peer, event)
    if (link.chat.bindings.of(room)) await opened(link, room, room, peer, event)
  }
}

/** event → type → user → {ts}; private ones are ours alone. */
function readsIn(event: unknown): Read[] {
  if (!isJson(event) || event.type !== 'm.receipt' || !isJson(event.content)) return []
  return Object.entries(event.content).flatMap(([id, types]) =>
    Object.entries(json(json(types)['m.read'])).map(([user, receipt]) => {
      const { ts } = json(receipt)
      return { user, event: id, at: typeof ts === 'number' && ts > 0 ? ts : 0 }
    }),
  )
}

const json = (value: unknown): Json => (isJson(value) ? value : {})

/** Everything of ours on that lane up to the event: who has read a text has read those before it. */
async function opened(link: Link, lane: string, room: string, peer: Peer, event: string): Promise<void> {
  const { links, mail, remotes } = link
  const upTo = links.ours(lane, 'event', event) ?? (await lastBefore(link, lane, room, event))
  if (upTo === null) return
  const mark = `read ${lane} ${peer.name}`
  const after = Number(links.meta(mark) ?? 0)
  if (upTo <= after) return
  const account = await remotes.account(localpart(peer.user), peer.name)
  const session = await remotes.session(account, sessionOf(peer.user))
  for (const ours of links.chat.texts(lane, after, upTo)) {
    const message = mail.store.message(ours)
    if (!message) continue
    for (const { to, account: box } of partOf(mail, message, lane))
      await mail.store.open({ ...box, box: to.box }, { ...session, box: to.box }, { ids: [ours] })
  }
  links.setMeta(mark, String(upTo))
}

/** A receipt may stand at a text that is no mail of ours, the person's own for example. */
async function lastBefore(link: Link, lane: string, room: string, event: string): Promise<number | null> {
  const path = `/rooms/${part(room)}/context/${part(event)}`
  const answer = await link.homeserver.call('GET', path, null, { query: { limit: 2 * LOOK_BACK } })
  for (const before of readEvents(answer.events_before)) {
    const ours = link.links.ours(lane, 'event', before.event_id)
    if (ours !== null) return ours
  }
  return null
}
