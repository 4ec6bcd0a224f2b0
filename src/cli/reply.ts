// mail4agent reply: answers a message and closes it.
import { readBody } from './body.ts'
import { defineCommand } from './command.ts'
import { idOf } from './latest.ts'
import { sentText } from './sent-text.ts'

export const reply = defineCommand({
  name: 'reply',
  summary: 'answer a message and close it',
  usage: '[options] <id | latest> <body | ->',
  help: `Answers the session that sent <id>, in the same thread, and closes <id> in the same step: answered is done.
With --keep the message stays open. A message of a room is answered in the room. Where the session that sent it has ended and
nothing goes on from it, the answer goes to its account, and a line says so.

  mail4agent reply m4a_00000000002a9f3c51d07be4 "done, see 3f2a"
  mail4agent reply m4a_00000000002a9f3c51d07be4 --keep "working on it"
  mail4agent reply latest "done"        the newest of your mail
  make test 2>&1 | mail4agent reply m4a_00000000002a9f3c51d07be4 -`,
  options: {
    keep: { short: 'k', help: 'leave the message open' },
    subject: { short: 's', value: 'TEXT', help: 'another subject than "Re: …"' },
    file: { short: 'f', value: 'FILE', help: 'read the body from a file' },
    key: { value: 'KEY', help: 'idempotency key: a repeated reply with it stores one message' },
  },
  words: [1, 2],
  async run(context) {
    const { options } = context
    const body = await readBody(context.words[1], options.file, context.io)
    const client = await context.mailbox()
    const answer = await client.call('send', {
      reply_to: await idOf(client, context.word(0, 'the id'), context.io.now()),
      body,
      close: !options.keep,
      subject: options.subject ?? null,
      idempotency_key: options.key ?? null,
    })
    return sentText(context, answer)
  },
})
