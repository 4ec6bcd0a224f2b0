// What a room is, read from its state events and nothing else: name, members, encryption, and which kind that makes it. Matrix CS §11.
import type { RoomKind } from '../../wire/chat.ts'
import { isJson, type Json } from '../matrix/homeserver.ts'
import type { RoomEvent } from '../matrix/sync-answer.ts'

export type RoomFacts = {
  name: string | null
  topic: string | null
  alias: string | null
  encrypted: boolean
  isSpace: boolean
  /** Anybody may join it, and not everybody may write. */
  isChannel: boolean
  /** A membership says that it is a room for two. */
  isDirect: boolean
  members: string[]
  invited: string[]
}

/** Whatever is not as it should be counts as absent. */
export function factsOf(state: readonly RoomEvent[]): RoomFacts {
  const latest = new Map(state.map((event) => [`${event.type} ${event.state_key ?? ''}`, event.content]))
  const of = (type: string): Json => latest.get(`${type} `) ?? {}
  const members = state.filter(({ type }) => type === 'm.room.member')
  const having = (membership: string) =>
    members.flatMap(({ content, state_key: user }) =>
      content.membership === membership && user !== undefined ? [user] : [],
    )
  const levels = of('m.room.power_levels')
  return {
    name: text(of('m.room.name').name),
    topic: text(of('m.room.topic').topic),
    alias: text(of('m.room.canonical_alias').alias),
    encrypted: latest.has('m.room.encryption '),
    isSpace: of('m.room.create').type === 'm.space',
    isChannel:
      of('m.room.join_rules').join_rule === 'public' && level(levels.events_default) > level(levels.users_default),
    isDirect: members.some(({ content }) => content.is_direct === true || wasDirect(content)),
    members: having('join').sort(),
    invited: having('invite').sort(),
  }
}

/** A membership that was an invitation keeps its sign where the homeserver tells of it: Matrix CS §10.4.1. */
const wasDirect = (content: Json): boolean => isJson(content.prev_content) && content.prev_content.is_direct === true

/** `direct`: the account data of our user counts it among its rooms for two. `machine`: it carries the mail of a machine. */
export function kindOf(facts: RoomFacts, { direct, machine }: { direct: boolean; machine: boolean }): RoomKind {
  if (machine) return 'machine'
  if (facts.isSpace) return 'space'
  if (facts.isChannel) return 'channel'
  const two = facts.members.length + facts.invited.length <= 2
  return two && facts.name === null && (direct || facts.isDirect) ? 'dm' : 'room'
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
/** Old rooms have their levels as text: Matrix room version 9. */
const level = (value: unknown): number =>
  typeof value === 'number' ? value : typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : 0
