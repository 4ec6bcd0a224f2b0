// mail4agent send: a message to accounts, sessions and rooms.
import type { Reference } from '../wire/letter.ts'
import { LIMITS } from '../wire/limits.ts'
import { bytes } from '../wire/text.ts'
import { readBody } from './body.ts'
import { defineCommand } from './command.ts'
import { idOf } from './latest.ts'
import { sentText } from './sent-text.ts'
import { usage } from './usage.ts'

export const send = defineCommand({
  name: 'send',
  summary: 'send a message',
  usage: '[options] <to>[,<to>…] [<subject>] <body | ->',
  help: `Sends one message. When it returns 0, the message is on the disk and will not be lost.

<to>   an account (claude), one of its sessions (claude/s-7f3a…), a room (#build); several with commas; a leading @ is fine.
<body> the text itself, or - for standard input, or left out with --file. It arrives byte for byte.
Without a subject the first line of the body is the subject. Words that look like options go after --.

  mail4agent send codex "please review src/store"
  mail4agent send codex,backend "Build is red" "main fails since 3f2a"
  mail4agent send '#build' -s "nightly" --file report.md
  git diff | mail4agent send codex -s "patch for review" -
  mail4agent send codex -- "--force is what it needs"

Without a running mailbox nothing is stored, and the exit code is 3.`,
  options: {
    subject: { short: 's', value: 'TEXT', help: 'the subject, one line' },
    file: { short: 'f', value: 'FILE', help: 'read the body from a file' },
    'reply-to': { value: 'ID', help: 'the message this one answers, or latest; without <to> it goes to its sender' },
    close: { help: 'with --reply-to: also close the message that is answered' },
    ref: {
      value: 'KIND=LOCATOR',
      multiple: true,
      help: 'point to something; kept as it is, never resolved (KIND:DIGEST=LOCATOR with a digest)',
    },
    correlation: { value: 'TEXT', help: 'an id of your own, handed back with the message' },
    key: { value: 'KEY', help: 'idempotency key: a repeated send with it stores one message' },
    upsert: { value: 'KEY', help: 'a later message with this key to the same recipient replaces this one' },
    'on-behalf-of': { value: 'WHO', help: 'declare for whom you write; proves nothing, needs the capability behalf' },
  },
  words: [0, 3],
  async run(context) {
    const { options, io } = context
    const { to, subject, body } = meaning(context.words, options['reply-to'] !== undefined, options.file !== undefined)
    if (subject !== undefined && options.subject !== undefined)
      throw usage('the subject is given twice: as a word and with --subject')
    if (options.close && options['reply-to'] === undefined) throw usage('--close needs --reply-to')
    const text = await readBody(body, options.file, io)
    const title = options.subject ?? subject ?? (options['reply-to'] === undefined ? firstLine(text) : undefined)
    const client = await context.mailbox()
    const answered = options['reply-to']
    const answer = await client.call('send', {
      to: to === undefined ? null : recipients(to),
      subject: title ?? null,
      body: text,
      reply_to: answered === undefined ? null : await idOf(client, answered, io.now()),
      close: options.close,
      refs: options.ref.map(reference),
      correlation: options.correlation ?? null,
      idempotency_key: options.key ?? null,
      upsert_key: options.upsert ?? null,
      on_behalf_of: options['on-behalf-of'] ?? null,
    })
    return sentText(context, answer)
  },
})

/** No name has a comma, so it parts them. */
function recipients(text: string): string | string[] {
  const [only = '', ...more] = text.split(',').map((part) => part.trim())
  return more.length === 0 ? only : [only, ...more]
}

/** Which word is what: with --file the body is no word, with --reply-to the recipient may be left out. */
function meaning(words: readonly string[], isReply: boolean, hasFile: boolean) {
  const [first, second, third] = words
  if (hasFile) {
    if (words.length > 2) throw usage('the body is given twice: as a word and with --file')
    if (first === undefined && !isReply) throw usage('the recipient is missing')
    return { to: first, subject: second, body: undefined }
  }
  if (words.length === 3) return { to: first, subject: second, body: third }
  if (words.length === 2) return { to: first, subject: undefined, body: second }
  if (words.length === 1 && isReply) return { to: undefined, subject: undefined, body: first }
  throw usage(
    words.length === 0 ? 'the recipient and the body are missing' : 'the body is missing',
    'usage: mail4agent send <to> <body>; the body may be - for standard input, or come with --file',
  )
}

/** The first line that says something, short enough for a subject. */
function firstLine(body: string): string {
  const line = body.split(/[\r\n]/).find((text) => text.trim() !== '') ?? ''
  const clean = line.replaceAll(/\p{Cc}/gu, ' ').trim()
  if (clean === '') return '(no subject)'
  let short = ''
  for (const character of clean) {
    if (bytes(short + character) > Math.min(LIMITS.subject, 100)) return `${short}…`
    short += character
  }
  return short
}

function reference(text: string): Reference {
  const [, kind, digest, locator] = /^([^:=]+)(?::([^=]*))?=(.+)$/s.exec(text) ?? []
  if (kind === undefined || locator === undefined) throw usage('--ref takes KIND=LOCATOR or KIND:DIGEST=LOCATOR')
  return { kind, locator, ...(digest === undefined ? {} : { digest }) }
}
