// A letter as people read it: our facts first, then the body behind bars; and letters as rows of a table.
import type { Message, Receipt } from '../wire/letter.ts'
import type { Context } from './context.ts'
import { quoteBody } from './escape.ts'
import { clock, clockAndAge, span } from './times.ts'

/** An address for a table on a terminal: eight digits of a session name it at every door, and fit. */
export function brief(address: string, context: Context): string {
  return context.io.outColumns === null ? address : address.replace(/(\/s-[0-9a-f]{8})[0-9a-f]+$/, '$1')
}

export function letterText(message: Message, now: string, context: Context): string {
  const { paint } = context
  const head = context.facts([
    ['from', message.from_text],
    [
      'imported',
      message.imported === undefined ? null : `from ${message.imported.source}: the sender was not proved here`,
    ],
    ['vouched for by', message.attested_by === undefined ? null : `the machine ${message.attested_by}`],
    ['on behalf of', message.on_behalf_of === undefined ? null : `${message.on_behalf_of} (as the sender says)`],
    ['to', message.recipients?.join(', ') ?? message.to_text],
    ['subject', message.subject],
    ['date', clockAndAge(message.created_at, now)],
    ['id', message.message_id],
    ['reply to', message.reply_to],
    ['thread', message.thread === message.message_id ? null : message.thread],
    ['correlation', message.correlation],
    ...message.refs.map((ref) => ['ref', `${ref.kind} ${ref.locator}${ref.digest ? ` ${ref.digest}` : ''}`] as const),
    ['updates', message.updates ? `replaces ${message.updates} earlier` : null],
    ['no wake', message.wake_suppressed],
    ['state', stateText(message, now)],
  ])
  const body = quoteBody(message.body).map((line) =>
    line === '|' ? paint('dim', line) : paint('dim', '|') + line.slice(1),
  )
  const more = message.body_truncated
    ? [paint('yellow', `… ${message.body_bytes} bytes in all: mail4agent view ${message.message_id}`)]
    : []
  return `${head}${[...body, ...more].join('\n')}\n`
}

/** Whose copy it is: that of a room, of which each member has one, names the member. */
export const recipientOf = ({ to, to_text, participant }: Receipt, context: Context): string =>
  to.kind === 'room' && participant !== undefined ? `${to_text} (${participant})` : brief(to_text, context)

/** What became of one copy as two cells of a narrow table: `replied 5 min ago`, and who did it and what else there is to know. */
export function briefState(copy: Receipt, now: string, context: Context): [state: string, by: string] {
  const { close_reason, state, closed_by, opened_by, claimed_by } = copy
  const at = copy.closed_at ?? copy.opened_at ?? copy.notified_at
  const done = close_reason === 'replied' || close_reason === 'superseded' ? close_reason : state
  const word = done === 'new' && at !== undefined ? 'listed' : done
  const who = copy.closed_at === undefined ? opened_by : closed_by
  const more = [
    ...(who === undefined ? [] : [brief(who, context)]),
    ...(claimed_by === undefined ? [] : [`claimed by ${brief(claimed_by, context)}`]),
    ...(copy.remote === undefined ? [] : [remoteText(copy.remote)]),
    ...(copy.session_ended ? ['its session has ended'] : []),
    ...(copy.warning === undefined ? [] : [copy.warning]),
  ]
  const age = at === undefined ? '' : ` ${span((Date.parse(now) - Date.parse(at)) / 1_000)} ago`
  return [`${word}${age}`, more.join(', ')]
}

/** What is known of one copy: the state, and who did what when. */
export function stateText(copy: Partial<Receipt>, now: string): string {
  if (copy.state === undefined) return ''
  const parts: string[] = [copy.state]
  if (copy.closed_at !== undefined)
    parts.push(`${copy.close_reason ?? 'closed'} ${by(copy.closed_by)}${clockAndAge(copy.closed_at, now)}`)
  else if (copy.opened_at !== undefined) parts.push(`${by(copy.opened_by)}${clockAndAge(copy.opened_at, now)}`)
  else if (copy.notified_at !== undefined) parts.push(`listed ${clockAndAge(copy.notified_at, now)}`)
  if (copy.claimed_by !== undefined)
    parts.push(
      `claimed by ${copy.claimed_by}${copy.claimed_until === undefined ? '' : ` until ${clock(copy.claimed_until)}`}`,
    )
  if (copy.remote !== undefined) parts.push(remoteText(copy.remote))
  if (copy.session_ended) parts.push('its session has ended')
  if (copy.warning !== undefined) parts.push(copy.warning)
  return parts.join(', ')
}

/** How far it has come on its way to another machine. */
const remoteText = ({ state, reason }: NonNullable<Receipt['remote']>): string =>
  REMOTE[state] + (reason === undefined ? '' : `: ${reason}`)

const REMOTE = {
  queued: 'waits here',
  sent: 'on its way',
  received: 'arrived on that machine',
  refused: 'refused there',
} as const

const by = (who: string | undefined): string => (who === undefined ? '' : `by ${who} `)

/** One letter a line; what has no copy in the own mailbox was sent from here, or an operator finds it. */
export function letterTable(messages: readonly Message[], context: Context): string {
  const rows = messages.map((message) => [
    message.message_id,
    message.claimed_by === undefined ? (message.state ?? 'sent') : `${message.state} (claimed)`,
    message.imported === undefined ? brief(message.from_text, context) : `${message.from_text} (imported)`,
    brief(message.to_text, context),
    ...when(message, context),
    // declared like the subject, so it stands there: what is in `from` is proved
    message.on_behalf_of === undefined ? message.subject : `(on behalf of ${message.on_behalf_of}) ${message.subject}`,
  ])
  return context.table(['id', 'state', 'from', 'to', ...whenHead(context), 'subject'], rows)
}

/** Age and date; a terminal has room for the age alone, `view` has both. */
export const when = ({ age_secs, created_at }: Message, context: Context): string[] =>
  context.io.outColumns === null ? [span(age_secs), clock(created_at)] : [span(age_secs)]
export const whenHead = (context: Context): string[] => (context.io.outColumns === null ? ['age', 'date'] : ['age'])
