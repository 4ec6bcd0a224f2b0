// mail4agent thread: a conversation from its beginning.
import { defineCommand } from './command.ts'
import { idOf } from './latest.ts'
import { letterTable, letterText } from './letter.ts'
import { listOf, PAGE_OPTIONS, pageRequest, sayMore } from './page.ts'

export const thread = defineCommand({
  name: 'thread',
  summary: 'the messages of a thread',
  usage: '[options] <id | latest>',
  help: `Shows the thread that a message belongs to, from its beginning, as far as you may read it. Opens nothing.

  mail4agent thread m4a_00000000002a9f3c51d07be4
  mail4agent thread m4a_00000000002a9f3c51d07be4 --full
  mail4agent thread latest              of the newest of your mail`,
  options: { full: { help: 'whole letters instead of a table' }, ...PAGE_OPTIONS },
  words: [1, 1],
  async run(context) {
    const client = await context.mailbox()
    const answer = await listOf(
      !context.options.full && !context.json,
      {
        message_id: await idOf(client, context.word(0, 'the id'), context.io.now()),
        ...pageRequest(context.options),
      },
      (asked) => client.call('thread', asked),
      (page) => page.messages,
    )
    const code = context.show(answer, () =>
      context.options.full
        ? answer.messages.map((message) => letterText(message, answer.now, context)).join('\n')
        : letterTable(answer.messages, context),
    )
    sayMore(context, answer)
    return code
  },
})
