// mail4agent watch: mail as it comes, until it is stopped.
import type { FollowAnswer } from '../wire/filter.ts'
import { Refusal } from '../wire/refusal.ts'
import { defineCommand } from './command.ts'
import type { Context } from './context.ts'
import { escapeLine } from './escape.ts'
import { Stopped } from './io.ts'
import { brief, letterText } from './letter.ts'
import { patient } from './patient.ts'
import { clock } from './times.ts'

export const watch = defineCommand({
  name: 'watch',
  summary: 'print mail as it comes, until stopped',
  usage: '[options]',
  help: `Prints mail that this session was not shown yet, and then each new letter as it comes, until Ctrl-C. Closes and opens
nothing. While the mailbox is away it tries again, and goes on where it was: no letter is left out and none comes twice. With
--json each line is one message.

  mail4agent watch
  mail4agent watch --full
  mail4agent watch --json | jq -r .subject`,
  options: { full: { help: 'whole letters instead of a line each' } },
  words: [0, 0],
  async run(context) {
    const client = await context.mailbox()
    const ask = (request: { cursor?: string | null }, how?: { signal: AbortSignal }) =>
      client.call('follow', request, how)
    let cursor: string | null = null
    let begun = false
    try {
      for (;;) {
        const answer: FollowAnswer | null = await patient(context, ask, { cursor }, Infinity, {
          begun,
          restartMs: Infinity,
        }).catch(begunAnew)
        begun = true
        if (answer === null) context.say('the store was restored since; showing what is not closed there')
        else for (const text of lines(context, answer)) context.print(text)
        cursor = answer?.cursor ?? null
      }
    } catch (error) {
      // the last page was shown too: the next watch of this session does not begin with it
      if (error instanceof Stopped && cursor !== null)
        await client.call('follow', { cursor, limit: 1 }, { timeoutMs: 1_000 }).catch(() => {})
      throw error
    }
  },
})

/** A cursor of the store before it was restored. */
function begunAnew(error: unknown): null {
  if (error instanceof Refusal && error.kind === 'cursor_expired') return null
  throw error
}

const lines = (context: Context<{ full: { help: string } }>, { messages, now }: FollowAnswer): string[] =>
  messages.map((message) => {
    if (context.json) return `${JSON.stringify(message)}\n`
    if (context.options.full) return `${letterText(message, now, context)}\n`
    const who = `${brief(message.from_text, context)} → ${brief(message.to_text, context)}`
    return escapeLine(`${clock(message.created_at)}  ${message.message_id}  ${who}  ${message.subject}`).concat('\n')
  })
