// Events as the texts that a reader is shown: edits and reactions folded into what they are about.
import type { Caller } from '../../engine/mail.ts'
import type { ChatText } from '../../wire/chat.ts'
import { canonical, isName } from '../../wire/names.ts'
import { rfc3339 } from '../../wire/time.ts'
import { FROM } from '../mail/people.ts'
import { isJson, type Json } from '../matrix/homeserver.ts'
import { timeOf } from '../matrix/sync-answer.ts'
import { isEmpty, isSaid, type Opened, type Said, type Sealed } from './timeline.ts'

const KINDS: Readonly<Record<string, ChatText['kind']>> = { 'm.text': 'text', 'm.notice': 'notice', 'm.emote': 'emote' }
const REPLACE = 'm.replace'
const KEY_MOST = 64

/** How an event hangs on another: what was encrypted counts before what the homeserver can see. Matrix CS §11.6. */
export function relationOf({ content, event }: Said): {
  kind: string | null
  event: string | null
  key: string | null
  reply: string | null
} {
  const inner = content['m.relates_to']
  const outer = event.content['m.relates_to']
  const relation = isJson(inner) ? inner : isJson(outer) ? outer : {}
  const reply = isJson(relation['m.in_reply_to']) ? relation['m.in_reply_to'] : {}
  return {
    kind: text(relation.rel_type),
    event: text(relation.event_id),
    key: text(relation.key),
    reply: relation.is_falling_back === true ? null : text(reply.event_id),
  }
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** The account that wrote it; null where a person or an unknown client did. */
export function accountOf({ content, ours, peer }: Said): string | null {
  const from = content[FROM]
  if (!isJson(from) || typeof from.account !== 'string' || !isName(from.account)) return null
  return ours || peer?.person === false ? from.account : null
}

/** The same hand: this device for the same account, or the same peer; of what nobody proved, the same user. */
const sameHand = (one: Said, other: Said): boolean =>
  one.event.sender === other.event.sender &&
  one.ours === other.ours &&
  one.peer?.name === other.peer?.name &&
  accountOf(one) === accountOf(other)

/** `opened`: oldest first. `us`: the Matrix user of this machine. */
export function rowsOf(opened: readonly Opened[], caller: Caller, us: string): ChatText[] {
  const said = opened.filter(isSaid)
  const by = (kind: string) =>
    Map.groupBy(
      said.filter((one) => relationOf(one).kind === kind),
      (one) => relationOf(one).event ?? '',
    )
  const edits = by(REPLACE)
  const reactions = by('m.annotation')
  return opened.flatMap((one): ChatText[] => {
    if (!isSaid(one)) return [sealedRow(one)]
    if (one.type !== 'm.room.message' || relationOf(one).kind === REPLACE) return []
    const id = one.event.event_id
    const edit = edits.get(id)?.findLast((other) => sameHand(one, other))
    return [row(one, edit ?? null, reactions.get(id) ?? [], caller, us)]
  })
}

function row(one: Said, edit: Said | null, reactions: readonly Said[], caller: Caller, us: string): ChatText {
  const replaced = edit?.content['m.new_content']
  const content = isJson(replaced) ? replaced : one.content
  const account = accountOf(one)
  const relation = relationOf(one)
  const gone = isEmpty(one.content)
  const body = gone ? null : bodyOf(content, account, relation.reply !== null)
  return {
    ...frame(one),
    peer: one.peer?.name ?? null,
    account,
    mine: one.ours && account !== null && canonical(account) === canonical(caller.account.name),
    kind: gone ? 'redacted' : (KINDS[String(content.msgtype)] ?? 'other'),
    body,
    reason: null,
    proved: one.ours || one.peer !== null,
    edited: edit !== null,
    reply_to: relation.reply,
    thread: relation.kind === 'm.thread' ? relation.event : null,
    mentioned: !one.ours && names(content, body ?? '', caller.account.name, us),
    reactions: folded(reactions),
  }
}

function sealedRow(one: Sealed): ChatText {
  return {
    ...frame(one),
    peer: null,
    account: null,
    mine: false,
    kind: 'unreadable',
    body: null,
    reason: one.reason,
    proved: false,
    edited: false,
    reply_to: null,
    thread: null,
    mentioned: false,
    reactions: [],
  }
}

const frame = ({ event }: Opened) => ({
  event: event.event_id,
  from: event.sender,
  at: rfc3339(timeOf(event)),
})

/** Without the account in front, which is told beside it, and without the quotation of older clients. */
function bodyOf(content: Json, account: string | null, answers: boolean): string {
  const body = text(content.body) ?? ''
  const own = answers ? body.replace(/^(?:> ?.*\n)+\n?/, '') : body
  return account !== null && own.startsWith(`[${account}] `) ? own.slice(account.length + 3) : own
}

/** Matrix CS §11.2, user mentions; and the words by which a person calls an agent. */
export function names(content: Json, body: string, account: string, us: string): boolean {
  const mentions = content['m.mentions']
  if (isJson(mentions) && Array.isArray(mentions.user_ids) && mentions.user_ids.includes(us)) return true
  if (body.includes(us)) return true
  const name = account.replaceAll(/[.+]/g, '\\$&')
  return new RegExp(`(?:^|[^\\w@])@${name}(?![\\w-])|^${name}[:,]`, 'i').test(body)
}

function folded(reactions: readonly Said[]): ChatText['reactions'] {
  const by = new Map<string, Set<string>>()
  for (const one of reactions) {
    const key = relationOf(one).key
    if (key === null || key.length > KEY_MOST) continue
    by.set(key, (by.get(key) ?? new Set()).add(accountOf(one) ?? one.event.sender))
  }
  return [...by].map(([key, users]) => ({ key, by: [...users] }))
}
