// mail4agent wake status: when mail wakes whom, and what became of it.
import type { WakeStatus } from '../../wire/wake.ts'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { clock } from '../times.ts'
import { addressOf, keyRows, lastText, policyText, whoseOf } from './common.ts'

export const wakeStatus = defineCommand({
  name: 'wake status',
  summary: 'when mail wakes whom, and what became of it',
  usage: '[<account>[/<session>]]',
  help: `Shows the policy of each account, or of one, and what its last wakes came to: started (a turn began), queued (taken, the
agent is at work), held (its user has to approve), stored (kept where the agent looks), refused, unknown (nothing tells),
no_door (there was none). Of one account also where the keys of its doors lie, vault or file; never a key.

  mail4agent wake status
  mail4agent wake status claude`,
  options: { limit: { short: 'n', value: 'N', help: 'how many wakes of one mailbox (default 5)' } },
  words: [0, 1],
  async run(context) {
    const [word] = context.words
    const whose = word === undefined ? null : whoseOf(word)
    const limit = context.options.limit === undefined ? null : Number(context.options.limit)
    const client = await context.operator()
    const answer = await client.admin('wake/status', { ...whose, limit })
    const [first] = answer.wakes
    return context.show(answer, () => (whose !== null && first ? one(context, first) : all(context, answer.wakes)))
  },
})

const all = (context: Context, wakes: readonly WakeStatus[]): string =>
  context.table(
    ['account', 'woken by', 'due', 'last wake'],
    wakes.map((wake) => [addressOf(wake), policyText(wake.policy), String(wake.due), lastText(wake) ?? 'never']),
  )

function one(context: Context, wake: WakeStatus): string {
  const head = context.facts([
    ['mailbox', addressOf(wake)],
    ['woken by', policyText(wake.policy)],
    ['last wake', lastText(wake) ?? 'never'],
    ['due', wake.due === 0 ? null : `${wake.due} letter${wake.due === 1 ? '' : 's'} that woke nobody yet`],
  ])
  const rows = wake.wakes.flatMap(({ at, tried, outcome, door, message_id, count }) => [
    [
      clock(at),
      outcome,
      door ?? '',
      `${count === 0 ? 'a test' : (message_id ?? 'gone')}${count > 1 ? ` and ${count - 1} more` : ''}`,
    ],
    ...tried.map((step) => ['', step.outcome ?? 'not ready', step.door, `${step.detail} (${step.ms} ms)`]),
  ])
  return [
    head,
    ...(wake.keys.length === 0 ? [] : [keyRows(context, wake.keys)]),
    ...(rows.length === 0 ? [] : [context.table(['at', 'outcome', 'door', 'what'], rows)]),
  ].join('\n')
}
