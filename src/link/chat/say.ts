// Writing into a room: texts, replies, edits of one's own, reactions, taking back, forwarding. Encrypted for pinned members, or not at all.
import type { Caller } from '../../engine/mail.ts'
import type { ChatAnswer, ChatRequest } from '../../wire/chat.ts'
import { LIMITS } from '../../wire/limits.ts'
import { canonical } from '../../wire/names.ts'
import { malformed, Refusal, tooLarge } from '../../wire/refusal.ts'
import { bytes, checkBody } from '../../wire/text.ts'
import { FROM } from '../mail/people.ts'
import { sendEncrypted } from '../matrix/transport.ts'
import type { Chat } from './chat.ts'
import { roomWith } from './membership.ts'
import { readersOf } from './readers.ts'
import { accountOf, relationOf, rowsOf } from './rows.ts'
import { eventOf, isSaid, open, type Said } from './timeline.ts'

type Sent = ChatAnswer<'send'>
type Text = Pick<ChatRequest<'send'>, 'text' | 'kind' | 'idempotency_key'>
const part = encodeURIComponent
/** Bytes of content that, encrypted and in base64, stay below what an event may have; an edit has its text twice. Matrix CS §8.3. */
const EVENT_MOST = 45_000
/** A user that is named in a text: Matrix CS appendices, user identifiers. */
const USERS = /@[a-z0-9._=/+-]+:[A-Za-z0-9.-]+(?::\d+)?/g

/** @throws Refusal `malformed` for a reply that is an edit too, `not_yours`, `not_encrypted`, `nobody_pinned`, `carries_mail` */
export async function send(chat: Chat, caller: Caller, request: ChatRequest<'send'>): Promise<Sent> {
  const { reply_to: reply = null, edit: target = null, thread = null } = request
  if (target !== null && (reply !== null || thread !== null))
    throw malformed('edit', 'is of a text as it hangs: leave reply_to and thread away')
  if (target !== null) return edit(chat, caller, { ...request, event: target })
  const room = await roomWith(chat, request.room)
  const answered = reply === null ? [] : [(await eventOf(chat.link, room, reply)).sender]
  const hangs =
    thread !== null
      ? { rel_type: 'm.thread', event_id: thread, is_falling_back: reply === null, ...inReply(reply ?? thread) }
      : reply !== null
        ? inReply(reply)
        : null
  const content = textOf(caller, request, answered)
  return put(
    chat,
    room,
    'm.room.message',
    hangs ? { ...content, 'm.relates_to': hangs } : content,
    txnOf(caller, request),
  )
}

const inReply = (event: string) => ({ 'm.in_reply_to': { event_id: event } })

export const reply = (chat: Chat, caller: Caller, { event, ...request }: ChatRequest<'reply'>): Promise<Sent> =>
  send(chat, caller, { ...request, reply_to: event })

export async function edit(chat: Chat, caller: Caller, request: ChatRequest<'edit'>): Promise<Sent> {
  const room = await chat.board.find(request.room)
  const said = await ownOf(chat, caller, room, request.event)
  if (said.type !== 'm.room.message' || relationOf(said).kind === 'm.replace')
    throw malformed('event', 'is no text; name the text that was written first')
  const content = textOf(caller, request, [])
  const replaced = {
    ...content,
    body: `* ${content.body}`,
    'm.new_content': content,
    'm.relates_to': { rel_type: 'm.replace', event_id: request.event },
  }
  return put(chat, room, 'm.room.message', replaced, txnOf(caller, request))
}

export async function react(chat: Chat, caller: Caller, request: ChatRequest<'react'>): Promise<Sent> {
  const room = await chat.board.find(request.room)
  await eventOf(chat.link, room, request.event)
  const relation = { rel_type: 'm.annotation', event_id: request.event, key: request.key }
  return put(chat, room, 'm.reaction', { 'm.relates_to': relation, [FROM]: fromOf(caller) }, crypto.randomUUID())
}

/** A redaction has no text of its own: a reason would lie at the homeserver in clear. */
export async function redact(
  chat: Chat,
  caller: Caller,
  request: ChatRequest<'redact'>,
): Promise<ChatAnswer<'redact'>> {
  const room = await chat.board.find(request.room)
  chat.board.mustNotCarry(room)
  if (!caller.account.can.operator) await ownOf(chat, caller, room, request.event)
  const path = `/rooms/${part(room)}/redact/${part(request.event)}/${crypto.randomUUID()}`
  const { event_id: event } = await chat.link.homeserver.call('PUT', path, {})
  return { room, event: String(event) }
}

/** What is forwarded is a text of its own: nothing of how it hung, and not the room that it came from. */
export async function forward(chat: Chat, caller: Caller, request: ChatRequest<'forward'>): Promise<Sent> {
  const { board, link } = chat
  const [room, to] = [await board.find(request.room), await board.find(request.to)]
  const opened = await open(link, room, await eventOf(link, room, request.event))
  const [row] = rowsOf([opened], caller, link.session.user)
  if (!row?.body) throw new Refusal('unknown_event', `that text cannot be read: ${row?.reason ?? 'it is none'}`)
  const text = `${row.account ?? row.peer ?? row.from} wrote:\n${row.body}`
  checkBody('text', text, LIMITS.chatText + LIMITS.label)
  const content = { ...textOf(caller, { text: row.body }, []), body: `[${caller.account.name}] ${text}` }
  return put(chat, to, 'm.room.message', content, crypto.randomUUID())
}

/** The event, if the caller's own account wrote it through this machine. @throws Refusal `not_yours`, `unknown_event` */
async function ownOf({ link }: Chat, caller: Caller, room: string, event: string): Promise<Said> {
  const opened = await open(link, room, await eventOf(link, room, event))
  const account = isSaid(opened) && opened.ours ? accountOf(opened) : null
  if (isSaid(opened) && account !== null && canonical(account) === canonical(caller.account.name)) return opened
  throw new Refusal('not_yours', `${caller.account.name} did not write that`, { event })
}

const fromOf = ({ account, session }: Caller) => ({ account: account.name, session: session.name })

/** Agents of one machine have one Matrix user: the account stands in front. */
function textOf(caller: Caller, { text, kind }: Text, answered: readonly string[]) {
  checkBody('text', text, LIMITS.chatText)
  const users = new Set([...(text.match(USERS) ?? []), ...answered])
  return {
    msgtype: `m.${kind ?? 'text'}`,
    body: `[${caller.account.name}] ${text}`,
    [FROM]: fromOf(caller),
    'm.mentions': users.size === 0 ? {} : { user_ids: [...users] },
  }
}

/** The same key is the same event: the homeserver knows the transaction, Matrix CS §10.6.2. */
const txnOf = ({ account }: Caller, { idempotency_key: key }: Text): string =>
  key == null ? crypto.randomUUID() : new Bun.CryptoHasher('sha256').update(`${account.id} ${key}`).digest('hex')

/** @throws Refusal `not_encrypted`, `nobody_pinned`, `carries_mail`, `too_large` */
async function put({ board, link }: Chat, room: string, type: string, content: object, txn: string): Promise<Sent> {
  board.mustNotCarry(room)
  if (link.rooms.get(room)?.encrypted !== true)
    throw new Refusal('not_encrypted', 'that room is not encrypted, or its encryption was not seen yet')
  const { readers, withheld } = readersOf(link, room)
  const size = bytes(JSON.stringify(content))
  if (size > EVENT_MOST) throw tooLarge('text', EVENT_MOST, size)
  if (readers.length === 0) throw new Refusal('nobody_pinned', 'nobody in that room is pinned', { members: withheld })
  const encrypted = await link.device.encrypt(room, readers, type, content)
  return { room, event: await sendEncrypted(link.homeserver, room, txn, encrypted), readers, withheld }
}
