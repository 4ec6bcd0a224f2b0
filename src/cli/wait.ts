// mail4agent wait: returns when mail is there.
import type { InboxAnswer } from '../wire/answers.ts'
import { defineCommand } from './command.ts'
import { escapeLine } from './escape.ts'
import { isOneShot } from './one-shot.ts'
import { patientInbox } from './patient-inbox.ts'
import { seconds } from './usage.ts'

export const wait = defineCommand({
  name: 'wait',
  summary: 'return as soon as there is new mail',
  usage: '[options]',
  help: `Waits for mail that this session was not shown yet, prints one line and returns. Made to run in the background of an
agent: when it returns, mail is there. It closes and opens nothing, and outlives a restart of the mailbox.

Outside of an agent each wait is a session of its own, so all that is not closed counts as new, and it returns at once.
There --after goes on behind what an earlier one found. (In an agent it also marks what lies before it as opened.)

Exit code 0: mail is there. 1: the mailbox refused. 2: wrong usage. 3: no mailbox runs. 4: the time is over.

  mail4agent wait                       as long as it takes
  mail4agent wait --timeout 10m && mail4agent inbox --full
  mail4agent wait --after 0a1b2c3d.c    the cursor is what an earlier one said, or .cursor of its --json`,
  options: {
    timeout: { short: 't', value: 'TIME', help: 'give up after 90s, 10m, 2h' },
    after: { value: 'CURSOR', help: 'only mail behind this place' },
  },
  words: [0, 0],
  async run(context) {
    const { timeout, after } = context.options
    const client = await context.mailbox()
    const isShort = !context.json && (await isOneShot(client))
    // A look without any wait would list what was shown already.
    const time = timeout === undefined ? Number.POSITIVE_INFINITY : Math.max(1, seconds('--timeout', timeout))
    const answer = await patientInbox(context, client, after === undefined ? {} : { cursor: after }, time)
    const isThere = answer.messages.length > 0
    if (isThere || context.json) context.show(answer, () => `${summary(answer)}\n`)
    else context.say('no mail in that time')
    if (isShort && answer.cursor !== null) {
      const why = after === undefined ? 'no agent runs this, so all that is not closed counted as new; ' : ''
      context.say(`${why}to go on behind it: mail4agent wait --after ${answer.cursor}`)
    }
    return isThere ? 0 : TIME_OVER
  },
})

/** Apart from a refusal, so that a script can tell. */
const TIME_OVER = 4

/** `2 new: claude/s-7f3a… "subject", codex/s-… "other"; read: mail4agent inbox --full` */
function summary({ messages, has_more }: InboxAnswer): string {
  const shown = messages.slice(0, 3).map((message) => `${message.from_text} ${JSON.stringify(message.subject)}`)
  const more = messages.length > 3 ? ', …' : ''
  const read = messages.length === 1 ? `mail4agent view ${messages[0]?.message_id}` : 'mail4agent inbox --full'
  return escapeLine(`${messages.length}${has_more ? '+' : ''} new: ${shown.join(', ')}${more}; read: ${read}`)
}
