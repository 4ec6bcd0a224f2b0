// mail4agent admin retention: what has been closed for long enough to go, and removing it now.
import type { AdminAnswer } from '../../wire/admin.ts'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { clock } from '../times.ts'
import { usage } from '../usage.ts'

export const retention = defineCommand({
  name: 'admin retention',
  summary: 'what is old enough to be removed; remove it now',
  usage: '[--dry-run] [run]',
  help: `Says what closed mail has been kept for long enough, by account, and changes nothing. With run it is removed now; the mailbox
does that by itself, too, a few times a day, a few letters at a time. A conversation goes as a whole, once every copy of every
letter in it has been closed for the days that the configuration says. Mail that nobody has acknowledged is never removed.

  mail4agent admin retention
  mail4agent admin retention run
  mail4agent admin backup && mail4agent admin retention run

In config.toml, days from 30 on or "forever":

  [keep]
  closed_days = 90
  events_days = 30`,
  options: { 'dry-run': { help: 'only say what would go, also with run' } },
  words: [0, 1],
  async run(context) {
    const word = context.words[0]
    if (word !== undefined && word !== 'run') throw usage(`${JSON.stringify(word.slice(0, 100))} is not run`)
    const client = await context.operator()
    const run = word === 'run' && !context.options['dry-run']
    context.progress(run ? 'removing what is old enough' : 'looking for what is old enough')
    // how much there is decides how long it takes
    const answer = await client.admin('retention', { run }, { timeoutMs: 24 * 3_600_000 })
    context.show(answer, () => retentionText(answer, context))
    if (!run && !context.json && answer.messages + answer.events > 0)
      context.say('remove it with: mail4agent admin retention run')
    return 0
  },
})

const kept = (days: number | null): string => (days === null ? 'for ever' : `${days} days`)

function retentionText(answer: AdminAnswer<'retention'>, context: Context): string {
  const { removed, accounts, messages, conversations, bytes, events, oldest_closed_at, newest_closed_at } = answer
  const between =
    oldest_closed_at === null || newest_closed_at === null
      ? null
      : `${clock(oldest_closed_at)} to ${clock(newest_closed_at)}`
  const facts = context.facts([
    ['keeps', `closed mail ${kept(answer.closed_days)}, events ${kept(answer.events_days)}`],
    [removed ? 'removed' : 'would go', `${messages} letters in ${conversations} conversations (${bytes} bytes)`],
    ['closed', between],
    ['events', String(events)],
  ])
  const rows = accounts.map((one) => [
    one.account ?? '(removed)',
    String(one.going),
    String(one.kept_not_closed),
    String(one.kept_too_young),
  ])
  const head = ['account', removed ? 'removed' : 'would go', 'kept: not closed', 'kept: closed later']
  return rows.length === 0 ? facts : `${facts}\n${context.table(head, rows)}`
}
