// Who is in a room: joining, leaving, making, inviting, putting out.
import type { ChatRequest } from '../../wire/chat.ts'
import { malformed, Refusal } from '../../wire/refusal.ts'
import { inRoom } from '../matrix/transport.ts'
import { accountData, setAccountData } from './account-data.ts'
import type { Chat } from './chat.ts'

type Room = { room: string }
const ENCRYPTION = { type: 'm.room.encryption', state_key: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } }

export async function join({ board, link }: Chat, request: ChatRequest<'join'>): Promise<Room> {
  const wanted = await board.idOrAlias(request.room)
  const { room_id: room } = await link.homeserver.call('POST', `/join/${encodeURIComponent(wanted)}`, {})
  link.links.uninvited(String(room))
  await board.seen(String(room), 'there')
  return { room: String(room) }
}

export async function leave(chat: Chat, request: ChatRequest<'leave'>): Promise<Room> {
  const { board, bindings, link } = chat
  const invited = link.links.invites().some(({ room }) => room === request.room)
  const room = invited ? request.room : await board.find(request.room)
  chat.board.mustNotCarry(room)
  await inRoom(link.homeserver, room, 'leave')
  link.links.uninvited(room)
  await bindings.unbind(room)
  return { room }
}

/** Whatever is written into is encrypted from the beginning; a space only holds rooms. @throws Refusal `malformed`, `unknown_peer` */
export async function create({ board, link }: Chat, request: ChatRequest<'create'>): Promise<Room> {
  const kind = request.kind ?? 'room'
  const invite = (request.invite ?? []).map((user) => board.userNamed(user))
  const [first] = invite
  if (kind === 'dm' && (invite.length !== 1 || request.name != null))
    throw malformed('invite', 'a room for two has one other member, and no name')
  const channel = kind === 'channel'
  const answer = await link.homeserver.call('POST', '/createRoom', {
    preset: channel ? 'public_chat' : 'private_chat',
    visibility: channel ? 'public' : 'private',
    is_direct: kind === 'dm',
    invite,
    ...(request.name == null ? {} : { name: request.name }),
    ...(request.topic == null ? {} : { topic: request.topic }),
    ...(kind === 'space' ? { creation_content: { type: 'm.space' } } : { initial_state: [ENCRYPTION] }),
    ...(channel ? { power_level_content_override: { events_default: 50 } } : {}),
  })
  const room = String(answer.room_id)
  await board.seen(room, kind === 'space' ? 'there' : 'encrypted')
  if (kind === 'dm' && first !== undefined) await rememberDirect({ board, link }, room, first)
  return { room }
}

/** The room that a text means; for a pinned person with whom there is none, one is made. Throws what `find` throws. */
export async function roomWith(chat: Chat, text: string): Promise<string> {
  try {
    return await chat.board.find(text)
  } catch (error) {
    const peer = chat.link.peers.find(text.replace(/^@/, ''))
    if (!(error instanceof Refusal && error.kind === 'unknown_chat' && peer?.person)) throw error
    return (await create(chat, { kind: 'dm', invite: [peer.user] })).room
  }
}

/** Added to what other clients of the account have written there, and for a pinned person the room where its mail goes. */
async function rememberDirect(
  { board, link }: Pick<Chat, 'board' | 'link'>,
  room: string,
  user: string,
): Promise<void> {
  const content = (await accountData(link, 'm.direct')) ?? {}
  const rooms = Array.isArray(content[user]) ? content[user] : []
  await setAccountData(link, 'm.direct', { ...content, [user]: [...rooms, room] })
  board.directChanged()
  const peer = link.peers.byUser(user)
  if (!peer?.person) return
  link.links.lane(peer.name)
  link.links.setRoom(peer.name, room)
}

export const invite = (chat: Chat, { room, user }: ChatRequest<'invite'>): Promise<Room> =>
  move(chat, 'invite', room, user)
/** Without a reason: that would lie at the homeserver in clear. */
export const kick = (chat: Chat, { room, user }: ChatRequest<'kick'>): Promise<Room> => move(chat, 'kick', room, user)

async function move(chat: Chat, what: 'invite' | 'kick', text: string, user: string): Promise<Room> {
  const room = await chat.board.find(text)
  chat.board.mustNotCarry(room)
  const id = chat.board.userNamed(user)
  if (id === chat.link.session.user) throw malformed('user', 'is this machine itself')
  await inRoom(chat.link.homeserver, room, what, { user_id: id })
  return { room }
}
