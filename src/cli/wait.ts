// mail4agent wait: returns when mail is there.
import type { InboxAnswer } from '../wire/answers.ts'
import { defineCommand } from './command.ts'
import { escapeLine } from './escape.ts'
import { patientInbox } from './patient-inbox.ts'
import { seconds } from './usage.ts'

export const wait = defineCommand({
  name: 'wait',
  summary: 'return as soon as there is new mail',
  usage: '[options]',
  help: `Waits for mail that this session was not shown yet, prints one line and returns. Made to run in the background of an
agent: when it returns, mail is there. It closes and opens nothing, and outlives a restart of the mailbox.

Exit code 0: mail is there. 1: the time is over, or the mailbox refused. 2: wrong usage. 3: no mailbox runs.

  mail4agent wait                       as long as it takes
  mail4agent wait --timeout 10m && mail4agent inbox --full`,
  options: { timeout: { short: 't', value: 'TIME', help: 'give up after 90s, 10m, 2h' } },
  words: [0, 0],
  async run(context) {
    const { timeout } = context.options
    const client = await context.mailbox()
    // A look without any wait would list what was shown already.
    const time = timeout === undefined ? Number.POSITIVE_INFINITY : Math.max(1, seconds('--timeout', timeout))
    const answer = await patientInbox(context, client, {}, time)
    if (answer.messages.length > 0) return context.show(answer, () => `${summary(answer)}\n`)
    if (context.json) context.show(answer, () => '')
    else context.say('no mail in that time')
    return 1
  },
})

/** `2 new: claude/s-7f3a… "subject", codex/s-… "other"; read: mail4agent inbox --full` */
function summary({ messages, has_more }: InboxAnswer): string {
  const shown = messages.slice(0, 3).map((message) => `${message.from_text} ${JSON.stringify(message.subject)}`)
  const more = messages.length > 3 ? ', …' : ''
  const read = messages.length === 1 ? `mail4agent view ${messages[0]?.message_id}` : 'mail4agent inbox --full'
  return escapeLine(`${messages.length}${has_more ? '+' : ''} new: ${shown.join(', ')}${more}; read: ${read}`)
}
