// Reading rooms: texts page by page, threads, what names one, and what could not be decrypted before.
import type { Caller } from '../../engine/mail.ts'
import type { ChatAnswer, ChatRequest } from '../../wire/chat.ts'
import type { Link } from '../link.ts'
import { isJson } from '../matrix/homeserver.ts'
import { type RoomEvent, readEvents } from '../matrix/sync-answer.ts'
import type { Chat } from './chat.ts'
import { relationOf, rowsOf } from './rows.ts'
import { eventOf, isSaid, type Opened, openAll, page, related } from './timeline.ts'

const LIMIT = 20
/** Events are more than texts: edits, reactions, who came and went. */
const EVENTS = 3
const PAGES = 5
/** Events of a room among which mentions are looked for, and rooms that are looked into. */
const RECENT = 100
const ROOMS = 50

export const list = async ({ board }: Chat): Promise<ChatAnswer<'list'>> => ({ rooms: await board.all() })

export async function read(chat: Chat, caller: Caller, request: ChatRequest<'read'>): Promise<ChatAnswer<'read'>> {
  const { board, link } = chat
  const room = await board.find(request.room)
  const limit = request.limit ?? LIMIT
  let before = request.before ?? null
  let events: RoomEvent[] = []
  let messages: ChatAnswer<'read'>['messages'] = []
  for (let pages = 0; pages < PAGES && messages.length < limit; pages++) {
    const next = await page(link, room, before, limit * EVENTS)
    events = [...next.events, ...events]
    before = next.before
    const opened = [...(await openAll(link, room, events)), ...(await replacements(link, room, events))]
    messages = rowsOf(opened, caller, link.session.user)
    if (before === null) break
  }
  const first = messages.at(-limit)
  if (messages.length > limit && first) {
    // the page ends inside what was read: it goes on from the event before the first that is shown
    before = await tokenBefore(chat, room, first.event)
    messages = messages.slice(-limit)
  }
  return { room: await board.describe(room), messages, before }
}

/** Where the events before that one are. */
async function tokenBefore({ link }: Chat, room: string, event: string): Promise<string | null> {
  const path = `/rooms/${encodeURIComponent(room)}/context/${encodeURIComponent(event)}`
  const { start } = await link.homeserver.call('GET', path, null, { query: { limit: 0 } })
  return typeof start === 'string' ? start : null
}

/** Edits that lie in newer pages come along with what they replace: Matrix CS §11.6.1. Whatever else comes so is left out. */
async function replacements(link: Link, room: string, events: readonly RoomEvent[]): Promise<Opened[]> {
  const known = new Set(events.map(({ event_id }) => event_id))
  const bundled = events.flatMap(({ unsigned }) => {
    const relations = isJson(unsigned) ? unsigned['m.relations'] : null
    return isJson(relations) ? readEvents([relations['m.replace']]) : []
  })
  const fresh = bundled.filter(({ event_id }) => !known.has(event_id))
  return (await openAll(link, room, fresh)).filter((one) => isSaid(one) && relationOf(one).kind === 'm.replace')
}

export async function thread(
  chat: Chat,
  caller: Caller,
  request: ChatRequest<'thread'>,
): Promise<ChatAnswer<'thread'>> {
  const { board, link } = chat
  const room = await board.find(request.room)
  const root = await eventOf(link, room, request.event)
  const answers = await related(link, room, request.event, 'm.thread', request.limit ?? LIMIT)
  const events = [root, ...answers.reverse()]
  const opened = [...(await openAll(link, room, events)), ...(await replacements(link, room, events))]
  return { room, messages: rowsOf(opened, caller, link.session.user) }
}

export async function mentions(
  chat: Chat,
  caller: Caller,
  request: ChatRequest<'mentions'>,
): Promise<ChatAnswer<'mentions'>> {
  const { board, link } = chat
  const rooms = link.rooms.ids().filter((room) => board.machineOf(room) === null)
  const found: ChatAnswer<'mentions'>['mentions'] = []
  for (const room of rooms.slice(0, ROOMS)) {
    const { events } = await page(link, room, null, RECENT)
    for (const row of rowsOf(await openAll(link, room, events), caller, link.session.user))
      if (row.mentioned) found.push({ ...row, room })
  }
  found.sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
  return { mentions: found.slice(0, request.limit ?? LIMIT) }
}

export async function retry({ board, link }: Chat, request: ChatRequest<'retry'>): Promise<ChatAnswer<'retry'>> {
  const room = request.room == null ? null : await board.find(request.room)
  const waiting = () => link.links.unread().filter((one) => room === null || one.room === room).length
  const before = waiting()
  await link.sync.retryUnread()
  const left = waiting()
  return { opened: Math.max(0, before - left), left }
}
