// mail4agent ack, close: done with it.
import type { CloseAllRequest } from '../wire/filter.ts'
import { LIMITS } from '../wire/limits.ts'
import { settledExit, settledText } from './batch.ts'
import { closeMatching } from './close-matching.ts'
import { defineCommand } from './command.ts'
import type { Context } from './context.ts'
import { idOf, idsOf } from './latest.ts'
import { age, MOMENTS, oneOf, usage } from './usage.ts'

const STATES = ['new', 'opened'] as const

export const ack = defineCommand({
  name: 'ack',
  aliases: ['close'],
  summary: 'acknowledge: close messages',
  usage: '[options] [<id | latest>… | all]',
  help: `Closes messages: done, read, nothing more to do. Their senders see who closed them and when. Mail to an account is
closed for all its sessions; mail of a room for this session. Closed mail stays readable, and reopen takes it back.
\`close\` is the same.

  mail4agent ack m4a_00000000002a9f3c51d07be4
  mail4agent ack m4a_00000000002a9f3c51d07be4 m4a_00000000002b04d7c9e815fa
  mail4agent ack latest                 the newest of your mail
  mail4agent ack all                    everything that was listed before; what is new is listed now and stays open
  mail4agent close --from build --subject green
  mail4agent close --older-than 7d --state opened --dry-run

Options choose among all that is not closed, listed or not; with \`all\` among what was listed. What comes meanwhile stays, and
what a sibling has claimed. Where no agent or terminal is above, what any session of the account was listed counts as listed.`,
  options: {
    from: { short: 'f', value: 'WHO', help: 'only mail of this account, session or alias' },
    subject: { short: 's', value: 'TEXT', help: 'only where the subject has this in it' },
    thread: { value: 'ID', help: 'only of the thread that this message belongs to' },
    state: { value: 'STATE', help: `only ${STATES.join(' or ')}` },
    'older-than': { value: 'TIME', help: `only what is older than ${MOMENTS}` },
    'dry-run': { help: 'say what would be closed' },
  },
  words: [0, LIMITS.batch],
  async run(context) {
    const { words } = context
    const filter = await filterOf(context)
    const isAll = words.length === 1 && words[0] === 'all'
    if (isAll || (words.length === 0 && Object.keys(filter).length > 0)) return closeMatching(context, filter, isAll)
    if (words.length === 0) throw usage('no message is named', 'name messages, all, or options that choose them')
    if (Object.keys(filter).length > 0 || context.options['dry-run'])
      throw usage('options choose among all mail, so they go without ids')
    const client = await context.mailbox()
    const answer = await client.call('ack', { message_ids: await idsOf(client, words, context.io.now()) })
    context.show(answer, () => settledText('closed', answer.results))
    if (!context.json) context.say(`${answer.unread} not closed`)
    return settledExit(context, answer.results)
  },
})

async function filterOf(context: Context<(typeof ack)['options']>): Promise<CloseAllRequest> {
  const { from, subject, thread, state, 'older-than': older } = context.options
  const known = state === undefined ? undefined : oneOf('--state', state, STATES)
  return {
    ...(from === undefined ? {} : { written_by: from }),
    ...(subject === undefined ? {} : { subject }),
    ...(thread === undefined ? {} : { thread: await idOf(await context.mailbox(), thread, context.io.now()) }),
    ...(known === undefined ? {} : { state: known }),
    ...(older === undefined ? {} : { older_than_secs: age('--older-than', older, context.io.now()) }),
  }
}
