// Writing a letter by questions, for a person at a terminal: to whom, about what, the text, and whether to send it.
import { cancel, confirm, isCancel, multiline, multiselect, text } from '@clack/prompts'
import type { MailClient } from '../client/client.ts'
import { parseAddress } from '../wire/address.ts'
import { LIMITS } from '../wire/limits.ts'
import type { ContactsAnswer } from '../wire/people.ts'
import { Refusal } from '../wire/refusal.ts'
import { bytes } from '../wire/text.ts'
import { escapeLine } from './escape.ts'
import { span } from './times.ts'

export type Composed = { to: string[]; subject: string; body: string }

/** On stderr: data goes to stdout. */
const talk = { output: process.stderr } as const
const OTHER = ' '

/** Null when the person gave up. `body` null: it is asked for later, in an editor. */
export async function compose(
  client: MailClient,
  editor: boolean,
): Promise<(Composed | Omit<Composed, 'body'>) | null> {
  const contacts = await client.call('contacts', { limit: LIMITS.pageMax })
  const to = await recipients(contacts)
  if (to === null) return given()
  const subject = await text({ message: 'Subject', ...talk, validate: (value) => tooLong(value ?? '', LIMITS.subject) })
  if (isCancel(subject)) return given()
  if (editor) return { to, subject }
  const body = await multiline({ message: 'Text', ...talk, validate: (value) => tooLong(value ?? '', LIMITS.body) })
  return isCancel(body) ? given() : { to, subject, body }
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

async function recipients({ accounts, rooms, aliases, now }: ContactsAnswer): Promise<string[] | null> {
  const seen = (at: string | null) =>
    at === null ? 'never seen' : `seen ${span((Date.parse(now) - Date.parse(at)) / 1_000)} ago`
  const options = [
    ...aliases.map(({ name, address }) => ({ value: name, label: `${name} (${address})` })),
    ...accounts.map(({ id, label, live_sessions, last_seen }) => ({
      value: id,
      label: escapeLine(label === null ? id : `${id} (${label})`),
      hint: live_sessions.length > 0 ? `${live_sessions.length} live` : seen(last_seen),
    })),
    ...rooms.flatMap(({ id, member }) => (member ? [{ value: `#${id}`, label: `#${id}` }] : [])),
    { value: OTHER, label: 'another address' },
  ]
  const chosen = await multiselect({ message: 'To', options, required: true, maxItems: 12, ...talk })
  if (isCancel(chosen)) return null
  const named = chosen.filter((one) => one !== OTHER)
  if (named.length === chosen.length) return named
  const other = await text({ message: 'Address', placeholder: 'account, account/s-…, #room', ...talk, validate: wrong })
  return isCancel(other) ? null : [...named, ...other.split(',').map((part) => part.trim())]
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
