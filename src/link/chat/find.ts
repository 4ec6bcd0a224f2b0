// Searching what the homeserver shows to everybody: public rooms, and users. Names there prove nothing.
import type { ChatAnswer, ChatRequest } from '../../wire/chat.ts'
import { isJson, type Json } from '../matrix/homeserver.ts'
import type { Chat } from './chat.ts'

const LIMIT = 20

export async function findRooms({ link }: Chat, request: ChatRequest<'find_rooms'>): Promise<ChatAnswer<'find_rooms'>> {
  const filter = request.query ? { filter: { generic_search_term: request.query } } : {}
  const answer = await link.homeserver.call('POST', '/publicRooms', { limit: request.limit ?? LIMIT, ...filter })
  const rooms = rowsIn(answer.chunk).flatMap((row) =>
    typeof row.room_id === 'string'
      ? [
          {
            room: row.room_id,
            name: text(row.name),
            alias: text(row.canonical_alias),
            topic: text(row.topic),
            members: typeof row.num_joined_members === 'number' ? row.num_joined_members : 0,
          },
        ]
      : [],
  )
  return { rooms }
}

export async function findUsers({ link }: Chat, request: ChatRequest<'find_users'>): Promise<ChatAnswer<'find_users'>> {
  const body = { search_term: request.query, limit: request.limit ?? LIMIT }
  const answer = await link.homeserver.call('POST', '/user_directory/search', body)
  const users = rowsIn(answer.results).flatMap(({ user_id: user, display_name: name }) =>
    typeof user === 'string' ? [{ user, name: text(name), peer: link.peers.byUser(user)?.name ?? null }] : [],
  )
  return { users }
}

const rowsIn = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : [])
const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
