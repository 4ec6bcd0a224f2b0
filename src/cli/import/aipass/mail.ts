// One old message, as it lay in an inbox, among the deleted or among the sent; fields that are missing are made up for or told.
import { statSync } from 'node:fs'
import { LIMITS } from '../../../wire/limits.ts'
import { bytes } from '../../../wire/text.ts'
import type { Report } from '../report.ts'
import { type Fields, isFields, textIn } from './json.ts'
import { timeOf } from './times.ts'
import { nameOf } from './tree.ts'

export type Place = 'inbox' | 'deleted' | 'sent'
export type OldState = 'new' | 'opened' | 'closed'

export type OldMail = {
  /** File, and where in it. */
  at: string
  place: Place
  /** The branch whose mailbox it lies in. */
  owner: string
  id: string | null
  /** The id that its sender knows it by. */
  sentId: string | null
  inReplyTo: string | null
  from: string
  /** Of sent mail. */
  to: string[]
  /** Sent mail that was never delivered. */
  refused: boolean
  subject: string
  body: string
  created: number
  state: OldState
  closed: number | null
  updates: number
  /** Where answers were to go, as it was written. */
  answers: string | null
}

/** Null where it is no message; the report has the reason then. */
export function mailOf(
  value: unknown,
  place: Place,
  owner: string,
  file: string,
  at: string,
  report: Report,
): OldMail | null {
  const no = (reason: string) => {
    report.problem(at, reason)
    return null
  }
  if (!isFields(value)) return no('is no message')
  const body = value.message ?? value.body
  if (typeof body !== 'string') return no('has no text')
  if (bytes(body) > LIMITS.body) return no(`its text is ${bytes(body)} bytes long, ${LIMITS.body} can be kept`)
  const from = nameOf(value.from) ?? (place === 'sent' ? owner : nameOf(value.from_name))
  if (from === null) return no('names no sender')
  const closed = timeOf(value.archived_at)
  return {
    at,
    place,
    owner,
    id: textIn(value, 'id'),
    sentId: textIn(value, 'sent_id'),
    inReplyTo: textIn(value, 'in_reply_to'),
    from,
    to: place === 'sent' ? recipientsOf(value.to) : [owner],
    refused: value.status === 'refused',
    subject: subjectOf(value.subject, at, report),
    body,
    created: createdOf(value, file, at, report),
    state: place === 'inbox' ? stateOf(value, at, report) : 'closed',
    closed,
    updates: typeof value.updates === 'number' && value.updates > 1 ? Math.floor(value.updates) - 1 : 0,
    answers: textIn(value, 'reply_to'),
  }
}

/** What lies among the deleted is closed, whatever it says: closing all at once left the state as it was. */
function stateOf(fields: Fields, at: string, report: Report): OldState {
  const { status, read } = fields
  if (status === 'new' || status === 'opened' || status === 'closed') return status
  const state = read === true ? 'opened' : 'new'
  if (status !== undefined && status !== null)
    report.changed.push({
      at,
      reason: `has the unknown status ${JSON.stringify(status).slice(0, 60)}, taken for ${state}`,
    })
  return state
}

function createdOf(fields: Fields, file: string, at: string, report: Report): number {
  const own = timeOf(fields.timestamp)
  if (own !== null) return own
  for (const name of ['created_at', 'date', 'last_updated', 'archived_at']) {
    const other = timeOf(fields[name])
    if (other === null) continue
    report.changed.push({ at, reason: `has no readable timestamp, ${name} is taken for it` })
    return other
  }
  report.changed.push({ at, reason: 'has no readable timestamp, that of the file is taken for it' })
  return Math.max(0, Math.floor(statSync(file).mtimeMs))
}

/** One line, at most as long as a subject may be. */
function subjectOf(value: unknown, at: string, report: Report): string {
  if (typeof value !== 'string') {
    if (value !== undefined && value !== null) report.changed.push({ at, reason: 'its subject is no text, left out' })
    return ''
  }
  let subject = value.replaceAll(/\p{Cc}+/gu, ' ')
  while (bytes(subject) > LIMITS.subject) subject = subject.slice(0, -1).replace(/[\uD800-\uDBFF]$/, '')
  if (subject !== value) report.changed.push({ at, reason: 'its subject was made one line of at most 512 bytes' })
  return subject
}

function recipientsOf(value: unknown): string[] {
  const parts = (Array.isArray(value) ? value : [value]).flatMap((one) =>
    typeof one === 'string' ? one.split(/[,;\s]+/) : [],
  )
  return parts.map(nameOf).filter((name) => name !== null)
}
