// mail4agent search: words in mail that the caller may read.
import { defineCommand } from './command.ts'
import { letterTable, letterText } from './letter.ts'
import { PAGE_OPTIONS, pageRequest, sayMore } from './page.ts'

export const search = defineCommand({
  name: 'search',
  summary: 'find words in your mail, closed and sent too',
  usage: '[options] <word>…',
  help: `Finds messages with all the words in subject or body, newest first: received and sent, open and closed.

  mail4agent search migration index
  mail4agent search '"exact words"' --full`,
  options: { full: { help: 'whole letters instead of a table' }, ...PAGE_OPTIONS },
  words: [1, 100],
  async run(context) {
    const client = await context.mailbox()
    const answer = await client.call('search', { query: context.words.join(' '), ...pageRequest(context.options) })
    const code = context.show(answer, () => {
      if (answer.messages.length === 0) return ''
      if (!context.options.full) return letterTable(answer.messages, context)
      return answer.messages.map((message) => letterText(message, answer.now, context)).join('\n')
    })
    if (answer.messages.length === 0 && !context.json) context.say('nothing found')
    sayMore(context, answer)
    return code
  },
})
