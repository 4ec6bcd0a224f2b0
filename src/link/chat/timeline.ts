// What was said in a room: events as the homeserver has them, opened one by one, with who proved each.

import { Refusal } from '../../wire/refusal.ts'
import type { Link } from '../link.ts'
import { HomeserverError, isJson, type Json } from '../matrix/homeserver.ts'
import { type RoomEvent, readEvents } from '../matrix/sync-answer.ts'
import type { Peer } from '../peers.ts'

const part = encodeURIComponent

/** An event that could be read. `ours`: this device wrote it; `peer`: a pinned device of that peer did; else nobody proved it. */
export type Said = { event: RoomEvent; type: string; content: Json; ours: boolean; peer: Peer | null }
export type Sealed = { event: RoomEvent; reason: string }
export type Opened = Said | Sealed

export const isSaid = (one: Opened): one is Said => 'content' in one

/** The newest events before `from`, oldest first, and where those before them go on. */
export async function page(
  link: Link,
  room: string,
  from: string | null,
  limit: number,
): Promise<{ events: RoomEvent[]; before: string | null }> {
  const answer = await link.homeserver.call('GET', `/rooms/${part(room)}/messages`, null, {
    query: { dir: 'b', from, limit },
  })
  const events = readEvents(answer.chunk).reverse()
  return { events, before: typeof answer.end === 'string' && events.length > 0 ? answer.end : null }
}

/** @throws Refusal `unknown_event` */
export async function eventOf(link: Link, room: string, id: string): Promise<RoomEvent> {
  try {
    const [event] = readEvents([await link.homeserver.call('GET', `/rooms/${part(room)}/event/${part(id)}`)])
    if (event) return event
  } catch (error) {
    if (!(error instanceof HomeserverError) || error.status !== 404) throw error
  }
  throw new Refusal('unknown_event', 'no such event in that room', { event: id })
}

/** Events that hang on another one, newest first: Matrix CS §11.6. */
export async function related(link: Link, room: string, id: string, kind: string, limit: number): Promise<RoomEvent[]> {
  const path = `/rooms/${part(room)}/relations/${part(id)}/${part(kind)}`
  const answer = await link.homeserver.call('GET', path, null, { query: { dir: 'b', limit }, version: 'v1' })
  return readEvents(answer.chunk)
}

/**
 * Reads one event. In an encrypted room what came in clear is not read, but for reactions, which other clients send so; and
 * what a device encrypted that nobody has pinned is not read either.
 */
export async function open(link: Link, room: string, event: RoomEvent): Promise<Opened> {
  if (event.type !== 'm.room.encrypted') {
    const clear =
      link.rooms.get(room)?.encrypted !== true || event.type === 'm.reaction' || event.state_key !== undefined
    if (!clear && isEmpty(event.content)) return { event, type: event.type, content: {}, ours: false, peer: null }
    return clear
      ? { event, type: event.type, content: event.content, ours: false, peer: null }
      : { event, reason: 'it came in clear' }
  }
  if (isEmpty(event.content)) return { event, type: 'm.room.message', content: {}, ours: false, peer: null }
  const opened = await link.device.decrypt(room, event)
  if ('reason' in opened) return { event, reason: opened.withheld ?? opened.reason }
  const content = isJson(opened.content) ? opened.content : {}
  const ours = event.sender === link.session.user && opened.fingerprint === link.device.fingerprint
  const sender = ours ? null : link.peers.byUser(event.sender)
  const peer = sender && link.sync.isPinned(sender, opened) ? sender : null
  if (!ours && peer === null) return { event, reason: 'nobody has pinned that device' }
  return { event, type: opened.type, content, ours, peer }
}

/** What was redacted has no content left. */
export const isEmpty = (content: Json): boolean => Object.keys(content).length === 0

export async function openAll(link: Link, room: string, events: readonly RoomEvent[]): Promise<Opened[]> {
  const all: Opened[] = []
  for (const event of events) all.push(await open(link, room, event))
  return all
}
