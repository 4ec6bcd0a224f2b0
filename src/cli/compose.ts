// Writing a letter by questions, for a person at a terminal: to whom, about what, the text, and whether to send it.
import { autocomplete, cancel, confirm, isCancel, multiline, settings, text } from '@clack/prompts'
import type { MailClient } from '../client/client.ts'
import { parseAddress } from '../wire/address.ts'
import { canonical } from '../wire/ids.ts'
import { LIMITS } from '../wire/limits.ts'
import type { ContactsAnswer } from '../wire/people.ts'
import { Refusal } from '../wire/refusal.ts'
import { bytes } from '../wire/text.ts'
import { allContacts } from './contacts.ts'
import { escapeLine } from './escape.ts'
import { span } from './times.ts'

export type Composed = { to: string[]; subject: string; body: string }

/** On stderr: data goes to stdout. */
const talk = { output: process.stderr } as const
const OTHER = ' '
const NOBODY = ''

/** Ctrl-D: readline ends at it, and a prompt would wait for keys that never come. */
const END = '\u0004'

/** Null when the person gave up. `body` null: it is asked for later, in an editor. */
export async function compose(
  client: MailClient,
  editor: boolean,
): Promise<(Composed | Omit<Composed, 'body'>) | null> {
  settings.aliases.set(END, 'cancel')
  const { account } = await client.call('whoami', {})
  const to = await recipients(addressees(await allContacts(client), account))
  if (to === null) return given()
  const subject = await text({ message: 'Subject', ...talk, validate: (value) => tooLong(value ?? '', LIMITS.subject) })
  if (isCancel(subject)) return given()
  if (editor) return { to, subject }
  const body = await letterBody()
  return body === null ? given() : { to, subject, body }
}

/** Enter begins a new line; Ctrl-D ends the text, as in mail(1), and so does Enter on `submit`. Null when the person gave up. */
async function letterBody(): Promise<string | null> {
  const gaveUp = new AbortController()
  let ended = false
  const onKey = (_: string | undefined, key: { name?: string; sequence?: string; ctrl?: boolean }) => {
    if (key.sequence !== END) return
    ended = true
    process.stdin.emit('keypress', '\t', { name: 'tab', sequence: '\t' })
    Object.assign(key, { name: 'return', sequence: '\r', ctrl: false })
  }
  settings.aliases.delete(END)
  process.stdin.prependListener('keypress', onKey)
  try {
    const body = await multiline({
      message: 'Text (Ctrl-D ends it; or Tab, then Enter)',
      showSubmit: true,
      ...talk,
      signal: gaveUp.signal,
      validate: (value) => {
        const fault = tooLong(value ?? '', LIMITS.body)
        if (ended && (value ?? '').trim() === '') queueMicrotask(() => gaveUp.abort())
        ended = false
        return fault
      },
    })
    return isCancel(body) ? null : body
  } finally {
    process.stdin.removeListener('keypress', onKey)
    settings.aliases.set(END, 'cancel')
  }
}

/** The last question. */
export async function isSure(to: readonly string[]): Promise<boolean> {
  const sure = await confirm({ message: `Send it to ${escapeLine(to.join(', '))}?`, ...talk })
  if (!isCancel(sure) && sure) return true
  given()
  return false
}

function given(): null {
  cancel('Nothing was sent.', talk)
  return null
}

type Addressee = { value: string; label: string; hint?: string }

/** Whom a letter can go to now: an alias of what is no longer there is none. `self`: the account that writes. */
export function addressees({ accounts, rooms, aliases, now }: ContactsAnswer, self: string): Addressee[] {
  const seen = (at: string | null) =>
    at === null ? 'never seen' : `seen ${span((Date.parse(now) - Date.parse(at)) / 1_000)} ago`
  const names = new Set([...accounts.map(({ id }) => id), self].map(canonical))
  const mine = new Set(rooms.flatMap(({ id, member }) => (member ? [canonical(id)] : [])))
  const isThere = (text: string) => {
    const address = parseAddress(text)
    return address.kind === 'room' ? mine.has(canonical(address.room)) : names.has(canonical(address.participant))
  }
  return [
    ...aliases
      .filter(({ address }) => isThere(address))
      .map(({ name, address }) => ({ value: name, label: `${name} (${address})` })),
    ...accounts.map(({ id, label, live_sessions, last_seen }) => ({
      value: id,
      label: escapeLine(label === null ? id : `${id} (${label})`),
      hint: live_sessions.length > 0 ? `${live_sessions.length} live` : seen(last_seen),
    })),
    ...rooms.flatMap(({ id, member }) => (member ? [{ value: `#${id}`, label: `#${id}` }] : [])),
  ]
}

/** One after the other, each by typing some of its name: a key marks nobody by accident. */
async function recipients(all: readonly Addressee[]): Promise<string[] | null> {
  const to: string[] = []
  for (;;) {
    const rest = all.filter(({ value }) => !to.includes(value))
    const done: Addressee[] = to.length === 0 ? [] : [{ value: NOBODY, label: 'nobody else' }]
    const other: Addressee = { value: OTHER, label: 'another address' }
    const one = await autocomplete({
      message: to.length === 0 ? 'To (type to search)' : `To ${escapeLine(to.join(', '))}, and`,
      options: [...done, ...rest, other],
      filter: (typed, option) => isMeant(typed, option.value, option.label ?? ''),
      maxItems: 12,
      ...talk,
    })
    if (isCancel(one) || one === undefined) return null
    if (one === NOBODY) return to
    if (one !== OTHER) {
      to.push(one)
      continue
    }
    const address = await text({ message: 'Address', placeholder: EXAMPLES, ...talk, validate: wrong })
    if (isCancel(address)) return null
    for (const part of address.split(',')) if (!to.includes(part.trim())) to.push(part.trim())
  }
}

const EXAMPLES = 'account, account/s-…, #room'

/** What is typed is found in the name; what is found nowhere can be another address. */
function isMeant(typed: string, value: string, label: string): boolean {
  const wanted = typed.trim().replace(/^@/, '').toLowerCase()
  return wanted === '' || value === OTHER || (value !== NOBODY && `${value} ${label}`.toLowerCase().includes(wanted))
}

function wrong(value: string | undefined): string | undefined {
  try {
    for (const part of (value ?? '').split(',')) if (part.trim() !== '@all') parseAddress(part.trim())
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return error.message
    throw error
  }
}

const tooLong = (value: string, limit: number): string | undefined =>
  value.trim() === ''
    ? 'an empty one says nothing'
    : bytes(value) > limit
      ? `${bytes(value)} bytes; the limit is ${limit}`
      : undefined
