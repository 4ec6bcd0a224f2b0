// mail4agent reply: answers a message and closes it.
import type { Message } from '../wire/letter.ts'
import { readBody } from './body.ts'
import { defineCommand } from './command.ts'
import { withEditor } from './editor.ts'
import { idOf } from './latest.ts'
import { sentText } from './sent-text.ts'
import { clock } from './times.ts'
import { usage } from './usage.ts'

export const reply = defineCommand({
  name: 'reply',
  summary: 'answer a message and close it',
  usage: '[options] <id | latest> [<body | ->]',
  help: `Answers the session that sent <id>, in the same thread, and closes <id> in the same step: answered is done.
With --keep the message stays open. A message of a room is answered in the room. Where the session that sent it has ended and
nothing goes on from it, the answer goes to its account, and a line says so. On a terminal without a body your editor opens.
With --quote the lines of <id> stand before the body, each behind "> ".

  mail4agent reply m4a_00000000002a9f3c51d07be4 "done, see 3f2a"
  mail4agent reply m4a_00000000002a9f3c51d07be4 --keep "working on it"
  mail4agent reply latest "done"        the newest of your mail
  mail4agent reply latest --quote       in your editor, below what was written
  make test 2>&1 | mail4agent reply m4a_00000000002a9f3c51d07be4 -`,
  options: {
    keep: { short: 'k', help: 'leave the message open' },
    subject: { short: 's', value: 'TEXT', help: 'another subject than "Re: …"' },
    quote: { short: 'q', help: 'begin with what was written, each line behind "> "' },
    edit: { short: 'e', help: 'write the body in VISUAL or EDITOR' },
    file: { short: 'f', value: 'FILE', help: 'read the body from a file' },
    key: { value: 'KEY', help: 'idempotency key: a repeated reply with it stores one message' },
  },
  words: [1, 2],
  async run(context) {
    const { options, io } = context
    const word = context.words[1]
    const isWritten = word !== undefined || options.file !== undefined
    if (options.edit && isWritten) throw usage('the body is given twice: with --edit and otherwise')
    const edits = options.edit || (!isWritten && io.inIsTerminal && io.errIsTerminal)
    const body = edits ? '' : await readBody(word, options.file, io)
    const client = await context.mailbox()
    const id = await idOf(client, context.word(0, 'the id'), io.now())
    const quote = options.quote ? quoted(await client.call('get', { message_id: id, peek: true })) : ''
    const post = async (text: string) =>
      sentText(
        context,
        await client.call('send', {
          reply_to: id,
          body: text,
          close: !options.keep,
          subject: options.subject ?? null,
          idempotency_key: options.key ?? null,
        }),
      )
    return edits ? withEditor(context, quote, post) : post(quote + body)
  },
})

/** RFC 3676, 4.5: a quoted line begins with `>`; one that was quoted before gets one more. */
function quoted({ from_text, created_at, body }: Message): string {
  const lines = body.split(/\r\n|[\n\r]/)
  if (lines.at(-1) === '') lines.pop()
  return `${from_text.replace(/\/.*/, '')} wrote on ${clock(created_at)}:\n${lines.map((line) => (line.startsWith('>') ? `>${line}\n` : `> ${line}\n`)).join('')}\n`
}
