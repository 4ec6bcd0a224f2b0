// What is not said but shown: how far one has read, who types, tags, account data. The homeserver sees all of it.
import type { ChatAnswer, ChatRequest } from '../../wire/chat.ts'
import { rfc3339OrNull } from '../../wire/time.ts'
import { isJson } from '../matrix/homeserver.ts'
import { accountData, setAccountData } from './account-data.ts'
import type { Chat } from './chat.ts'
import { eventOf, page } from './timeline.ts'

const part = encodeURIComponent
const TYPING_SECONDS = 30

export async function receipts(
  { board, link }: Chat,
  request: ChatRequest<'receipts'>,
): Promise<ChatAnswer<'receipts'>> {
  const room = await board.find(request.room)
  const read = link.links.chat.seen(room).map(({ user, event, at }) => ({ user, event, at: rfc3339OrNull(at || null) }))
  const typing = (board.typing.get(room) ?? []).filter((user) => user !== link.session.user)
  return { room, read, typing }
}

/** Matrix CS §11.6.2: the receipt is for the others, the marker for the clients of this account. */
export async function mark({ board, link }: Chat, request: ChatRequest<'mark'>): Promise<ChatAnswer<'mark'>> {
  const room = await board.find(request.room)
  if (request.event != null) await eventOf(link, room, request.event)
  const event = request.event ?? (await page(link, room, null, 1)).events.at(-1)?.event_id ?? null
  if (event !== null)
    await link.homeserver.call('POST', `/rooms/${part(room)}/read_markers`, { 'm.fully_read': event, 'm.read': event })
  return { room, event }
}

export async function typing({ board, link }: Chat, request: ChatRequest<'typing'>): Promise<ChatAnswer<'typing'>> {
  const room = await board.find(request.room)
  const timeout = 1_000 * (request.seconds ?? TYPING_SECONDS)
  const path = `/rooms/${part(room)}/typing/${part(link.session.user)}`
  await link.homeserver.call('PUT', path, request.on ? { typing: true, timeout } : { typing: false })
  return { room }
}

export async function tag({ board, link }: Chat, request: ChatRequest<'tag'>): Promise<ChatAnswer<'tag'>> {
  const room = await board.find(request.room)
  const tags = `/user/${part(link.session.user)}/rooms/${part(room)}/tags`
  if (request.tag != null) {
    const path = `${tags}/${part(request.tag)}`
    if (request.remove) await link.homeserver.call('DELETE', path)
    else await link.homeserver.call('PUT', path, request.order == null ? {} : { order: request.order })
  }
  const answer = await link.homeserver.call('GET', tags)
  const all = isJson(answer.tags) ? Object.entries(answer.tags) : []
  return {
    room,
    tags: all.map(([name, about]) => ({
      tag: name,
      order: isJson(about) && typeof about.order === 'number' ? about.order : null,
    })),
  }
}

export async function data({ board, link }: Chat, request: ChatRequest<'data'>): Promise<ChatAnswer<'data'>> {
  const { type } = request
  const room = request.room == null ? null : await board.find(request.room)
  if (request.content != null) await setAccountData(link, type, request.content, room)
  if (type === 'm.direct') board.directChanged()
  return { type, content: await accountData(link, type, room) }
}
