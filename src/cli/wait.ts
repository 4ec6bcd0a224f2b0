// mail4agent wait: returns when mail is there.
import type { MailClient } from '../client/client.ts'
import type { FollowAnswer, FollowRequest } from '../wire/filter.ts'
import { defineCommand } from './command.ts'
import type { Context } from './context.ts'
import { escapeLine } from './escape.ts'
import { idOf, sentIdOf } from './latest.ts'
import { isOneShot } from './one-shot.ts'
import { patient } from './patient.ts'
import { DURATIONS, seconds } from './usage.ts'

export const wait = defineCommand({
  name: 'wait',
  summary: 'return as soon as there is new mail, or an answer',
  usage: '[options]',
  help: `Waits for mail that this session was not shown yet, prints one line and returns. Made to run in the background of an
agent: when it returns, mail is there. It closes and opens nothing, and outlives a restart of the mailbox.

Outside of an agent each wait is a session of its own, so all that is not closed counts as new, and it returns at once.
There --after goes on behind what an earlier one found.

With --from or --thread other mail is passed over and stays new. With --reply-to it returns for an answer to that message, also
one that has come already. All that is given has to hold.

Exit code 0: mail is there. 1: the mailbox refused. 2: wrong usage. 3: no mailbox runs. 4: the time is over.

  mail4agent wait                       as long as it takes
  mail4agent wait --timeout 10m && mail4agent inbox --full
  mail4agent wait --reply-to latest -t 1h       for an answer to what you sent last
  mail4agent wait --from codex --thread m4a_00000000002a9f3c51d07be4
  mail4agent wait --after 0a1b2c3d.c    the cursor is what an earlier one said, or .cursor of its --json`,
  options: {
    timeout: { short: 't', value: 'TIME', help: `give up after ${DURATIONS}; 0 only looks` },
    'reply-to': { value: 'ID', help: 'an answer to this message; latest is what you sent last' },
    from: { short: 'f', value: 'WHO', help: 'mail of this account, session or alias' },
    thread: { value: 'ID', help: 'mail of the thread that this message, or the latest of your mail, belongs to' },
    after: { value: 'CURSOR', help: 'only mail behind this place' },
  },
  words: [0, 0],
  async run(context) {
    const { timeout, after } = context.options
    const client = await context.mailbox()
    const filter = await filterOf(client, context)
    const isPlain = Object.keys(filter).length === 0
    const isShort = isPlain && !context.json && (await isOneShot(client))
    const time = timeout === undefined ? Number.POSITIVE_INFINITY : seconds('--timeout', timeout)
    // What a line does not name was not shown.
    const request = { ...filter, ...(after === undefined ? {} : { cursor: after }), limit: context.json ? null : NAMED }
    const ask = (asked: FollowRequest, how?: { signal: AbortSignal }) => client.call('follow', asked, how)
    const answer = time === 0 ? await look(ask, request) : await patient(context, ask, request, time)
    const isThere = answer.messages.length > 0
    if (isThere || context.json) context.show(answer, () => `${summary(answer)}\n`)
    else context.say('no mail in that time')
    // the line is printed: where this is lost, the next wait prints it again
    if (isPlain && isThere) await client.call('follow', { cursor: answer.cursor, limit: 1 }).catch(() => {})
    if (isShort && isThere) {
      const why = after === undefined ? 'no agent runs this, so all that is not closed counted as new; ' : ''
      context.say(`${why}to go on behind it: mail4agent wait --after ${answer.cursor}`)
    }
    return isThere ? 0 : TIME_OVER
  },
})

/** What is there now: past what is not ours to see, there may be more. */
async function look(ask: (request: FollowRequest) => Promise<FollowAnswer>, request: FollowRequest) {
  let answer = await ask(request)
  while (answer.messages.length === 0 && answer.has_more && answer.cursor !== null)
    answer = await ask({ ...request, cursor: answer.cursor })
  return answer
}

type Filter = Pick<FollowRequest, 'written_by' | 'thread' | 'reply_to'>

async function filterOf(
  client: MailClient,
  { options, io }: Context<Pick<(typeof wait)['options'], 'from' | 'thread' | 'reply-to'>>,
): Promise<Filter> {
  const { from, thread, 'reply-to': answered } = options
  return {
    ...(from === undefined ? {} : { written_by: from }),
    ...(thread === undefined ? {} : { thread: await idOf(client, thread, io.now()) }),
    ...(answered === undefined ? {} : { reply_to: await sentIdOf(client, answered) }),
  }
}

const NAMED = 3

/** Apart from a refusal, so that a script can tell. */
const TIME_OVER = 4

/** `2 new: claude/s-7f3a… "subject", codex/s-… "other"; read: mail4agent inbox --full` */
function summary({ messages, has_more }: FollowAnswer): string {
  const shown = messages.slice(0, NAMED).map((message) => `${message.from_text} ${JSON.stringify(message.subject)}`)
  const more = has_more ? ', …' : ''
  const read = messages.length === 1 ? `mail4agent view ${messages[0]?.message_id}` : 'mail4agent inbox --full'
  return escapeLine(`${messages.length}${has_more ? '+' : ''} new: ${shown.join(', ')}${more}; read: ${read}`)
}
