// What /sync answered, read tolerantly: whatever is not as it should be is left out, so that one odd event stops nothing. Matrix CS §6.4.
import { HomeserverError, isJson, type Json } from './homeserver.ts'

export type RoomEvent = {
  readonly type: string
  readonly sender: string
  readonly event_id: string
  readonly content: Json
  readonly state_key?: string
  readonly origin_server_ts?: unknown
  readonly unsigned?: unknown
}
export type JoinedRoom = {
  id: string
  state: RoomEvent[]
  timeline: RoomEvent[]
  /** Where the events before the timeline go on, when some were left out. */
  gap: string | null
  /** Receipts and who types. */
  ephemeral: unknown[]
}
export type SyncAnswer = {
  next: string
  toDevice: unknown[]
  changed: string[]
  left: string[]
  oneTimeKeys: Record<string, number>
  fallbackKeys: string[]
  joined: JoinedRoom[]
  /** Room and who invited us; `direct`: as the one room for two. */
  invited: { id: string; sender: string; direct: boolean }[]
  /** Rooms that we have left. */
  gone: string[]
}

/** @throws HomeserverError for an answer without `next_batch` */
export function readSync(answer: Json, us: string): SyncAnswer {
  if (typeof answer.next_batch !== 'string')
    throw new HomeserverError(200, 'M4A_GARBAGE', 'an answer to /sync that is none', 2_000)
  const lists = json(answer.device_lists)
  const rooms = json(answer.rooms)
  return {
    next: answer.next_batch,
    toDevice: list(json(answer.to_device).events),
    changed: texts(lists.changed),
    left: texts(lists.left),
    oneTimeKeys: counts(answer.device_one_time_keys_count),
    fallbackKeys: texts(answer.device_unused_fallback_key_types),
    joined: Object.entries(json(rooms.join)).map(([id, room]) => joinedRoom(id, json(room))),
    invited: Object.entries(json(rooms.invite)).map(([id, room]) => ({ id, ...invitation(json(room), us) })),
    gone: Object.keys(json(rooms.leave)),
  }
}

function joinedRoom(id: string, room: Json): JoinedRoom {
  const timeline = json(room.timeline)
  const limited = timeline.limited === true && typeof timeline.prev_batch === 'string'
  return {
    id,
    state: readEvents(json(room.state).events),
    timeline: readEvents(timeline.events),
    gap: limited ? String(timeline.prev_batch) : null,
    ephemeral: list(json(room.ephemeral).events),
  }
}

/** Events that have what every event has. */
export const readEvents = (value: unknown): RoomEvent[] => list(value).filter(isEvent)

const isEvent = (event: unknown): event is RoomEvent =>
  isJson(event) &&
  typeof event.type === 'string' &&
  typeof event.sender === 'string' &&
  typeof event.event_id === 'string' &&
  isJson(event.content) &&
  (event.state_key === undefined || typeof event.state_key === 'string')

/** Milliseconds since the epoch, as the homeserver says; 0 where it does not. */
export const timeOf = ({ origin_server_ts: at }: RoomEvent): number => (typeof at === 'number' && at > 0 ? at : 0)

/** Stripped state has no event ids: Matrix CS §6.4.2. */
function invitation(room: Json, us: string): { sender: string; direct: boolean } {
  for (const event of list(json(room.invite_state).events))
    if (isJson(event) && event.type === 'm.room.member' && event.state_key === us)
      return { sender: String(event.sender), direct: json(event.content).is_direct === true }
  return { sender: '', direct: false }
}

const json = (value: unknown): Json => (isJson(value) ? value : {})
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const texts = (value: unknown): string[] => list(value).filter((one) => typeof one === 'string')
const counts = (value: unknown): Record<string, number> =>
  // a missing count means that there is none left: Matrix CS §11.12.2.1
  Object.fromEntries(
    Object.entries({ signed_curve25519: 0, ...json(value) }).flatMap(([name, count]) =>
      typeof count === 'number' ? [[name, count]] : [],
    ),
  )
