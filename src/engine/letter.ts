// A message as its reader sees it, as JSON text: the stored fragment, to whom it came, its age, and the state of the reader's copy.
import { type DeliveryRow, KIND, type MessageRow, type PageRow } from '../store/rows.ts'
import { type Address, formatAddress, parseAddress } from '../wire/address.ts'
import { bytes } from '../wire/text.ts'
import { rfc3339 } from '../wire/time.ts'
import { copyOf } from './copy.ts'
import type { Caller, Mail } from './mail.ts'
import { addressOf, sessionText } from './who.ts'

/** `"to":…,"to_text":…` for an address. */
export const toText = (address: Address): string =>
  `"to":${JSON.stringify(address)},"to_text":"${formatAddress(address)}"`

let lastTime = Number.NaN
let lastText = ''
/** RFC 3339; the letters of a page were mostly notified, opened or closed at one moment. */
function time(ms: number): string {
  if (ms !== lastTime) {
    lastTime = ms
    lastText = rfc3339(ms)
  }
  return lastText
}

/** The members that tell what became of one delivery, `"state":…` first. Times that have not come are absent. */
export function stateText(mail: Mail, row: DeliveryRow, now: number): string {
  const plain = row.closed === 0 && row.opened === null
  let text = plain ? '"state":"new"' : row.closed === 1 ? '"state":"closed"' : '"state":"opened"'
  if (row.notified !== null) text += `,"notified_at":"${time(row.notified)}"`
  if (row.opened !== null) text += `,"opened_at":"${time(row.opened)}"${by(mail, 'opened_by', row.openedBy)}`
  if (row.closedAt !== null) text += `,"closed_at":"${time(row.closedAt)}"${by(mail, 'closed_by', row.closedBy)}`
  if (row.reason !== null) text += `,"close_reason":"${row.reason}"`
  if (row.kind === KIND.account && row.closed === 0) {
    const claim = mail.store.registry.claim(row.box, row.id, now)
    if (claim) text += `${by(mail, 'claimed_by', claim.session)},"claimed_until":"${time(claim.until)}"`
  }
  return text
}

function by(mail: Mail, member: string, session: number | null): string {
  const text = sessionText(mail, session)
  return text === null ? '' : `,"${member}":"${text}"`
}

const updatesText = (row: DeliveryRow): string => (row.updates > 0 ? `,"updates":${row.updates}` : '')

/** Whole seconds; a clock that went back makes nothing younger than 0. */
export const ageOf = (created: number, now: number): number => Math.max(0, Math.floor((now - created) / 1000))

/** What a row of the reader's mailbox adds to its fragment. `to` is `toText` of the entry that put it there. */
export const rowSuffix = (mail: Mail, row: PageRow, to: string, now: number): string =>
  `,${to},"age_secs":${ageOf(row.created, now)},${stateText(mail, row, now)}${updatesText(row)}`

/** What a message adds for a caller who may read it: with the state of its copy where it has one. */
export function messageSuffix(mail: Mail, caller: Caller, message: MessageRow, now: number): string {
  const copy = copyOf(mail, caller, message)
  const age = `"age_secs":${ageOf(message.created, now)}`
  if (copy)
    return `,${toText(addressee(mail, caller, copy, message))},${age},${stateText(mail, copy, now)}${updatesText(copy)}`
  const first = message.recipients[0]
  return `,${toText(first ? parseAddress(first.text) : ownAddress(caller))},${age}`
}

/** To whom the letter in that box of the caller was written. `message` is needed for session mail only. */
export function addressee(mail: Mail, caller: Caller, copy: DeliveryRow, message: MessageRow | null): Address {
  if (copy.kind === KIND.account) return ownAddress(caller)
  if (copy.kind === KIND.room) {
    const room = mail.store.registry.roomById(copy.room)
    return room ? { kind: 'room', room: room.name } : ownAddress(caller)
  }
  const entry = message?.recipients.find((to) => to.kind === copy.kind && to.box === copy.box)
  return entry ? parseAddress(entry.text) : addressOf(caller)
}

export const ownAddress = (caller: Caller): Address => ({ kind: 'direct', participant: caller.account.name })

/** A text whose length in bytes is known already. */
export type Sized = { text: string; bytes: number }

/** The letter with its length: what is added to a fragment is ASCII, and a fragment is counted without being copied first. */
export const sizedLetter = (fragment: string, suffix: string): Sized => ({
  text: letterText(fragment, suffix),
  bytes: bytes(fragment) + suffix.length + 2,
})

/** The letter as one JSON object. */
export const letterText = (fragment: string, suffix: string): string => `{${fragment}${suffix}}`

/**
 * A letter that does not fit `limit` bytes, with as much of its body as does, cut at a character border, `body_truncated` and
 * `body_bytes`. Where even that is too much the other long members give way too: the whole is there with get.
 */
export function previewText(fragment: string, suffix: string, limit: number): string {
  const { letter, body, size } = shortened(fragment, suffix, limit)
  letter.body = cutToJson(body, limit - size())
  return JSON.stringify(letter)
}

/** Bytes of a letter in a list without bodies, beside what is added to it for the reader. */
const BRIEF = 3_000

/** The letter without its body, as a table shows it; the rest gives way as in a preview. */
export const briefText = (fragment: string, suffix: string): string =>
  JSON.stringify(shortened(fragment, suffix, suffix.length + BRIEF).letter)

function shortened(fragment: string, suffix: string, limit: number) {
  const letter: Record<string, unknown> = JSON.parse(letterText(fragment, suffix))
  const body = typeof letter.body === 'string' ? letter.body : ''
  Object.assign(letter, { body: '', body_bytes: bytes(body), body_truncated: true })
  const size = () => bytes(JSON.stringify(letter))
  for (const give of SHED) {
    if (size() <= limit) break
    give(letter)
  }
  return { letter, body, size }
}

const SHED: readonly ((letter: Record<string, unknown>) => void)[] = [
  (letter) => delete letter.recipients,
  (letter) => (letter.refs = []),
  (letter) => delete letter.on_behalf_of,
  (letter) => (letter.correlation = null),
  (letter) => (letter.subject = ''),
]

/** The longest beginning of `text` whose JSON form, without quotes, has at most `limit` bytes. */
function cutToJson(text: string, limit: number): string {
  const fits = (length: number) => bytes(JSON.stringify(text.slice(0, length))) - 2 <= limit
  let low = 0
  let high = text.length
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(border(text, middle))) low = middle
    else high = middle - 1
  }
  return text.slice(0, border(text, low))
}

/** `at`, or the place before it where it would part a surrogate pair. */
function border(text: string, at: number): number {
  const code = text.charCodeAt(at - 1)
  return at > 0 && at < text.length && code >= 0xd800 && code <= 0xdbff ? at - 1 : at
}
