// mail4agent view: one letter, whole.
import { defineCommand } from './command.ts'
import { escapeText } from './escape.ts'
import { idOf } from './latest.ts'
import { letterText } from './letter.ts'

export const view = defineCommand({
  name: 'view',
  summary: 'read one message; marks it opened',
  usage: '[options] <id | latest>',
  help: `Shows one message and marks it opened, so that its sender and your sibling sessions see that somebody is on it.
It stays in the inbox until ack or reply. The lines of the body stand behind a bar: what is not behind one is ours.

  mail4agent view m4a_00000000002a9f3c51d07be4
  mail4agent view latest                the newest of your mail
  mail4agent view latest --peek         without marking it
  mail4agent view latest --body > file  the body alone, byte for byte`,
  options: {
    peek: { help: 'leave its state as it is' },
    body: { help: 'print the body alone' },
  },
  words: [1, 1],
  async run(context) {
    const client = await context.mailbox()
    const id = await idOf(client, context.word(0, 'the id'), context.io.now())
    const message = await client.call('get', { message_id: id, peek: context.options.peek })
    return context.show(message, () => {
      if (context.options.body) return context.io.outColumns === null ? message.body : `${escapeText(message.body)}\n`
      return letterText(message, new Date(context.io.now()).toISOString(), context)
    })
  },
})
