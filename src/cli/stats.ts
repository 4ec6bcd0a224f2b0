// mail4agent stats: figures of a mailbox.
import type { StatsAnswer } from '../wire/people.ts'
import { defineCommand } from './command.ts'
import type { Context } from './context.ts'
import { span } from './times.ts'
import { wholeNumber } from './usage.ts'

export const stats = defineCommand({
  name: 'stats',
  summary: 'how much mail: by state, by peer, by day',
  usage: '[options] [<account>]',
  help: `Shows how much of your account's mail is new, opened and closed, how old the oldest is that is not closed, and how much went
to and came from each peer, day by day (UTC). A letter to three accounts counts three times. Another account is for operators.

  mail4agent stats
  mail4agent stats --days 30
  mail4agent stats codex --as operator`,
  options: { days: { short: 'd', value: 'COUNT', help: 'so many days back, today included (1 to 366, default 7)' } },
  words: [0, 1],
  async run(context) {
    const { days } = context.options
    const client = await context.mailbox()
    const answer = await client.call('stats', {
      target: context.words[0] ?? null,
      days: days === undefined ? null : wholeNumber('--days', days, 1, 366),
    })
    return context.show(answer, () => statsText(answer, context))
  },
})

function statsText(
  { target, states, at_least, unread, oldest_unread_age_secs, since, ...flow }: StatsAnswer,
  context: Context,
) {
  const count = (value: number) => `${value}${at_least ? ' or more' : ''}`
  const head = context.facts([
    ['mailbox', target],
    ['new', count(states.new)],
    ['opened', count(states.opened)],
    ['closed', count(states.closed)],
    [
      'not closed',
      oldest_unread_age_secs === null ? `${unread}` : `${unread}, the oldest ${span(oldest_unread_age_secs)} old`,
    ],
    ['since', since.slice(0, 10)],
  ])
  const part = (title: string, rows: readonly (readonly string[])[]) =>
    rows.length === 0 ? '' : `\n${context.table([title, 'sent', 'received'], rows)}`
  const peers = flow.peers.map(({ id, sent, heard }) => [id, `${sent}`, `${heard}`])
  const days = flow.days.map(({ day, sent, heard }) => [day, `${sent}`, `${heard}`])
  return `${head}${part('peer', peers)}${part('day', days)}`
}
