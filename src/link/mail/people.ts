// A person with a Matrix client, pinned like a machine: their texts become mail to the agent that they name, its answers plain texts.
import { readFragment } from '../../engine/fragment.ts'
import type { Mail } from '../../engine/mail.ts'
import type { LinkStore } from '../../store/link/link-store.ts'
import type { MessageRow } from '../../store/rows.ts'
import { LIMITS } from '../../wire/limits.ts'
import { canonical, messageId } from '../../wire/names.ts'
import { bytes } from '../../wire/text.ts'
import { isJson, type Json } from '../matrix/homeserver.ts'
import type { Peer } from '../peers.ts'
import { partOf } from './compose.ts'
import type { MailEnvelope } from './envelope.ts'

/** What a person's event says to us: mail, a word back to the person, or nothing that concerns us. */
export type Heard = { envelope: MailEnvelope } | { answer: string } | null

const hex = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex')
/** `@codex …`, `codex: …` */
const NAMED = /^(?:@([A-Za-z0-9._+-]+)[:,]?|([A-Za-z0-9._+-]+):)\s+/

/** Reads `m.room.message` of a pinned device: Matrix CS §11.2. Notices are of programs, edits of what was read already. */
export function hear(mail: Mail, links: LinkStore, peer: Peer, event: string, device: string, content: unknown): Heard {
  if (!isJson(content) || typeof content.body !== 'string') return null
  if (content.msgtype !== 'm.text' && content.msgtype !== 'm.emote') return null
  const relation = isJson(content['m.relates_to']) ? content['m.relates_to'] : {}
  if (relation.rel_type === 'm.replace') return null
  const answered = repliedTo(links, peer, relation)
  const text = answered === null ? content.body : withoutQuote(content.body)
  const parent = answered === null ? null : mail.store.message(answered)
  const named = NAMED.exec(text)
  const name = named?.[1] ?? named?.[2]
  const to = addressee(mail, peer, name, parent && senderOf(mail, parent.account, parent.json))
  if (to === null)
    return { answer: `Which agent? Begin with @name; there are: ${reachable(mail, peer).join(', ') || 'none'}` }
  const body =
    named && name !== undefined && to.toLowerCase() === name.toLowerCase() ? text.slice(named[0].length) : text
  if (bytes(body) > LIMITS.body) return { answer: `That is too long for a letter: ${LIMITS.body} bytes at most` }
  return {
    envelope: envelopeOf(event, { account: localpart(peer.user), session: sessionOf(device) }, to, body, parent, 0),
  }
}

/** A text of a Matrix room as a letter: what an answer there hangs on is ours, and its thread begins with it. */
export function envelopeOf(
  event: string,
  from: MailEnvelope['from'],
  to: string,
  body: string,
  parent: MessageRow | null,
  hop: number,
): MailEnvelope {
  const id = idOfText(event)
  return {
    v: 1,
    kind: 'mail',
    id,
    from,
    to: [to],
    subject: subjectOf(body),
    body,
    thread: { of: 'me', id },
    reply_to: parent ? { of: 'you', id: messageId(parent.id, parent.random) } : null,
    correlation: null,
    refs: [],
    hop,
  }
}

/** Older clients put what they answer in front, line by line: Matrix CS, fallbacks for rich replies. */
export const withoutQuote = (body: string): string => body.replace(/^(?:> ?.*\n)+\n?/, '')

function repliedTo(links: LinkStore, peer: Peer, relation: Json): number | null {
  const reply = isJson(relation['m.in_reply_to']) ? relation['m.in_reply_to'] : {}
  return typeof reply.event_id === 'string' ? links.ours(peer.name, 'event', reply.event_id) : null
}

/** The session of ours that wrote a message; null where none did. */
function senderOf(mail: Mail, account: number, json: string): string | null {
  const sender = mail.store.registry.accountById(account)
  return sender && sender.kind !== 'remote' ? readFragment(json).from_text : null
}

/** Whom a text is for: who is named, else who is answered, else the only one that the person may reach. */
function addressee(mail: Mail, peer: Peer, name: string | undefined, answered: string | null): string | null {
  const all = reachable(mail, peer)
  const named = name === undefined ? undefined : all.find((one) => canonical(one) === canonical(name))
  if (named !== undefined) return named
  if (answered !== null) return answered
  return all.length === 1 ? (all[0] ?? null) : null
}

const reachable = (mail: Mail, peer: Peer): string[] =>
  mail.store.registry
    .accounts()
    .filter(
      ({ name, kind }) =>
        kind === 'agent' && peer.accounts.some((one) => one === '*' || canonical(one) === canonical(name)),
    )
    .map(({ name }) => name)

export const localpart = (user: string): string =>
  user.slice(1, user.indexOf(':')).replaceAll(/[^A-Za-z0-9._+-]/g, '-') || 'person'

/** A person has no sessions that anybody could prove: one stands for each device, or for all. */
export const sessionOf = (of: string): string => `s-${hex(of).slice(0, 32)}`

/** The id under which a text is known here, and so is stored once. */
export const idOfText = (event: string): string => `m4a_${hex(event).slice(0, 24)}`

/** The first line, as far as a subject goes. */
export function subjectOf(body: string): string {
  const line = (body.split(/[\r\n]/, 1)[0] ?? '').replaceAll(/\p{Cc}/gu, ' ').trim()
  let cut = [...line].slice(0, 80).join('')
  if (cut.length < line.length) cut += '…'
  return cut
}

/**
 * A message of ours as a person reads it: who wrote, and what; an answer hangs on the text that it answers. More than one
 * text where it is longer than an event may be.
 */
export function textsFor(mail: Mail, links: LinkStore, peer: Peer, id: number): object[] {
  const message = mail.store.message(id)
  if (!message || partOf(mail, message, peer.name).length === 0) return []
  const { from, subject, body } = readFragment(message.json)
  const answered = message.parent === null ? null : links.theirs(peer.name, 'event', message.parent)
  const title = answered === null && subject !== '' && !body.startsWith(subject) ? `${subject}\n\n` : ''
  const session = from.kind === 'session' ? from.session : null
  return pieces(title + body, LIMITS.chatText).map((piece) => ({
    msgtype: 'm.text',
    body: `[${from.participant}] ${piece}`,
    [FROM]: { account: from.participant, session, hop: message.hop },
    'm.mentions': peer.user === '' ? {} : { user_ids: [peer.user] },
    ...(answered === null ? {} : { 'm.relates_to': { 'm.in_reply_to': { event_id: answered } } }),
  }))
}

/** Beside a text in a Matrix room: the account that wrote it, as its machine attests. */
export const FROM = 'net.mail4agent.from'

/** `text` in pieces of at most `most` bytes as they stand in JSON, cut at line ends where there are any. */
export function pieces(text: string, most: number): string[] {
  const size = (part: string) => bytes(JSON.stringify(part)) - 2
  const all: string[] = []
  let rest = text
  while (size(rest) > most) {
    let end = Math.min(rest.length, most)
    while (size(rest.slice(0, end)) > most) end = Math.floor(end * 0.9)
    const line = rest.lastIndexOf('\n', end)
    if (line > end / 2) end = line + 1
    else if (/[\uD800-\uDBFF]$/.test(rest.slice(0, end))) end--
    all.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  return [...all, rest]
}
