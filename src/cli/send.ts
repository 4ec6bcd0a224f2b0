// mail4agent send: a message to accounts, sessions and rooms.
import type { Reference } from '../wire/letter.ts'
import { LIMITS } from '../wire/limits.ts'
import { bytes } from '../wire/text.ts'
import { readBody } from './body.ts'
import { defineCommand } from './command.ts'
import type { Context } from './context.ts'
import { GAVE_UP, keeping, withEditor } from './editor.ts'
import { idOf } from './latest.ts'
import { sentText } from './sent-text.ts'
import { usage } from './usage.ts'

export const send = defineCommand({
  name: 'send',
  aliases: ['email'],
  summary: 'send a message',
  usage: '[options] [<to>[,<to>…] [<subject>] <body | ->]',
  help: `Sends one message. When it returns 0, the message is on the disk and will not be lost.

<to>   an account (claude), one of its sessions (claude/s-7f3a…), a room (#build), an alias of yours; several with commas; a
       leading @ is fine. @all is everybody but you, and needs the capability operator. Who is refused is named; others get it.
<body> the text itself, or - for standard input, or left out with --file. It arrives byte for byte.
Without a subject the first line of the body is the subject. Words that look like options go after --.
On a terminal without any words it asks for all of it; with --edit the body is written in your editor. Ctrl-D ends a text that
is typed there; what was written and not sent is kept in a file. \`email\` is the same.

  mail4agent send codex "please review src/store"
  mail4agent send codex,backend "Build is red" "main fails since 3f2a"
  mail4agent send '#build' -s "nightly" --file report.md
  git diff | mail4agent send codex -s "patch for review" -
  mail4agent send codex -- "--force is what it needs"
  mail4agent send codex -s "the plan" --edit

Without a running mailbox nothing is stored, and the exit code is 3.`,
  options: {
    subject: { short: 's', value: 'TEXT', help: 'the subject, one line' },
    file: { short: 'f', value: 'FILE', help: 'read the body from a file' },
    edit: { short: 'e', help: 'write the body in VISUAL or EDITOR' },
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
    from: { value: 'WHO', help: 'the same as --on-behalf-of' },
  },
  words: [0, 3],
  async run(context) {
    const { options, io, words } = context
    const { 'reply-to': answered, 'on-behalf-of': behalf, from, file, edit } = options
    if (behalf !== undefined && from !== undefined && behalf !== from)
      throw usage('--from and --on-behalf-of say different things')
    if (options.close && answered === undefined) throw usage('--close needs --reply-to')
    if (edit && file !== undefined) throw usage('the body is given twice: with --edit and with --file')
    if (words.length === 0 && answered === undefined && file === undefined && canAsk(context)) return ask(context, post)
    const { to, subject, body } = meaning(words, answered !== undefined, file !== undefined || edit)
    if (subject !== undefined && options.subject !== undefined)
      throw usage('the subject is given twice: as a word and with --subject')
    const title = options.subject ?? subject
    const recipients = to === undefined ? null : parts(to)
    const write = (text: string) =>
      post(recipients, title ?? (answered === undefined ? firstLine(text) : undefined), text)
    return edit ? withEditor(context, '', write) : write(await readBody(body, file, io))

    async function post(to: string | string[] | null, subject: string | undefined, text: string): Promise<number> {
      const client = await context.mailbox()
      const answer = await client.call('send', {
        to,
        subject: subject ?? null,
        body: text,
        reply_to: answered === undefined ? null : await idOf(client, answered, io.now()),
        close: options.close,
        refs: options.ref.map(reference),
        correlation: options.correlation ?? null,
        idempotency_key: options.key ?? null,
        upsert_key: options.upsert ?? null,
        on_behalf_of: behalf ?? from ?? null,
      })
      return sentText(context, answer)
    }
  },
})

type Post = (to: string[], subject: string, body: string) => Promise<number>

/** A silent pipe is no person: questions are asked on a terminal alone. */
const canAsk = ({ io, json }: Context): boolean => io.inIsTerminal && io.errIsTerminal && !json

async function ask(context: Context, post: Post): Promise<number> {
  const { compose, isSure } = await import('./compose.ts')
  const { VISUAL, EDITOR } = context.io.env
  const letter = await compose(await context.mailbox(), Boolean(VISUAL || EDITOR))
  if (letter === null) return GAVE_UP
  const send = async (body: string) => ((await isSure(letter.to)) ? post(letter.to, letter.subject, body) : null)
  return 'body' in letter ? keeping(context, letter.body, send) : withEditor(context, '', send)
}

/** No name has a comma, so it parts them. */
function parts(text: string): string | string[] {
  const [only = '', ...more] = text.split(',').map((part) => part.trim())
  return more.length === 0 ? only : [only, ...more]
}

/** Which word is what: with --file or --edit the body is no word, with --reply-to the recipient may be left out. */
function meaning(words: readonly string[], isReply: boolean, hasFile: boolean) {
  const [first, second, third] = words
  if (hasFile) {
    if (words.length > 2) throw usage('the body is given twice: as a word and with --file or --edit')
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

/** The first line that says something, short enough for a subject. @throws Refusal `usage` where none does */
function firstLine(body: string): string {
  const line = body.split(/[\r\n]/).find((text) => text.trim() !== '') ?? ''
  const clean = line.replaceAll(/\p{Cc}/gu, ' ').trim()
  if (clean === '') throw usage('the message is empty', 'give a text, or a subject with --subject')
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
