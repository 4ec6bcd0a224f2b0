// mail4agent unread: one number.
import { defineCommand } from './command.ts'
import { span } from './times.ts'

export const unread = defineCommand({
  name: 'unread',
  summary: 'how many messages are not closed',
  usage: '[<address>]',
  help: `Prints how many messages are not closed, for this session or for an address of your account. Marks nothing.

  mail4agent unread
  mail4agent unread claude`,
  options: {},
  words: [0, 1],
  async run(context) {
    const client = await context.mailbox()
    const answer = await client.call('unread', { target: context.words[0] ?? null })
    const code = context.show(answer, () => `${answer.unread}\n`)
    if (answer.oldest_age_secs !== null && !context.json)
      context.progress(`the oldest is ${span(answer.oldest_age_secs)} old`)
    return code
  },
})
