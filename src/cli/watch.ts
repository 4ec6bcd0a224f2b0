// mail4agent watch: mail as it comes, until it is stopped.
import type { InboxAnswer } from '../wire/answers.ts'
import { defineCommand } from './command.ts'
import { escapeLine } from './escape.ts'
import { brief, letterText } from './letter.ts'
import { patientInbox } from './patient-inbox.ts'
import { clock } from './times.ts'

export const watch = defineCommand({
  name: 'watch',
  summary: 'print mail as it comes, until stopped',
  usage: '[options]',
  help: `Prints mail that this session was not shown yet, and then each new letter as it comes, until Ctrl-C. Closes and opens
nothing, and outlives a restart of the mailbox. With --json each line is one message.

  mail4agent watch
  mail4agent watch --full
  mail4agent watch --json | jq -r .subject`,
  options: { full: { help: 'whole letters instead of a line each' } },
  words: [0, 0],
  async run(context) {
    const client = await context.mailbox()
    const line = ({ messages, now }: InboxAnswer) =>
      messages.map((message) => {
        if (context.json) return `${JSON.stringify(message)}\n`
        if (context.options.full) return `${letterText(message, now, context)}\n`
        const who = `${brief(message.from_text, context)} → ${brief(message.to_text, context)}`
        return escapeLine(`${clock(message.created_at)}  ${message.message_id}  ${who}  ${message.subject}`).concat(
          '\n',
        )
      })
    for (;;) {
      const answer = await patientInbox(context, client, {}, Number.POSITIVE_INFINITY)
      for (const text of line(answer)) context.print(text)
    }
  },
})
