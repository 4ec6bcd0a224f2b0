// Bodies go through the compiled binary byte for byte: send and reply, as an argument, on standard input, from a file, from an editor.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import type { SendAnswer } from '../../src/wire/answers.ts'
import { BINARY, Mailbox } from './support/mailbox.ts'

setDefaultTimeout(120_000)

let mailbox: Mailbox
let ann: string
let bob: string
/** What replies answer; it stays open. */
let question: string
beforeAll(async () => {
  mailbox = await Mailbox.start()
  ann = await mailbox.account('ann')
  bob = await mailbox.account('bob')
  question = String((await mailbox.post('/mail/send', ann, { to: 'bob', subject: 'q', body: 'q' })).body.message_id)
})
afterAll(() => mailbox[Symbol.asyncDispose]())

const WAYS = ['argument', 'stdin', 'file', 'editor'] as const
type Way = (typeof WAYS)[number]
const file = () => join(mailbox.root, 'body')

async function run(argv: string[], token: string, stdin: string | null): Promise<SendAnswer> {
  const child = Bun.spawn([BINARY, '--json', ...argv], {
    // the editor puts the text there, whatever it is
    env: {
      HOME: mailbox.root,
      M4A_DATA_DIR: mailbox.data,
      M4A_TOKEN: token,
      PATH: '/usr/bin:/bin',
      EDITOR: `cp ${file()}`,
    },
    stdin: stdin === null ? 'ignore' : new Blob([stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${argv.slice(0, 3).join(' ')}: ${err}`)
  return JSON.parse(out)
}

/** How the command line is given the body. */
function given(way: Way, body: string): { words: string[]; stdin: string | null } {
  if (way === 'argument') return { words: ['--', body], stdin: null }
  if (way === 'stdin') return { words: ['-'], stdin: body }
  writeFileSync(file(), body)
  return way === 'file' ? { words: ['--file', file()], stdin: null } : { words: ['--edit'], stdin: null }
}

async function arrives(way: Way, isReply: boolean, body: string): Promise<void> {
  const { words, stdin } = given(way, body)
  const { message_id } = await (isReply
    ? run(['reply', '--keep', question, ...words], bob, stdin)
    : run(['send', '-s', 's', 'bob', ...words], ann, stdin))
  const { body: letter } = await mailbox.post('/mail/get', isReply ? ann : bob, { message_id, peek: true })
  expect(letter.body).toBe(body)
  expect(letter.reply_to).toBe(isReply ? question : null)
}

const EDGES: readonly [name: string, body: string][] = [
  ['several lines', 'one\ntwo\n\nthree\n'],
  ['CRLF and a lone CR', 'one\r\ntwo\rthree\r\n'],
  ['like an option', '--dispatch'],
  ['like options of ours', '-s --close --json -h\n--help'],
  ['like an address', '@all look here'],
  ['like a path', '/etc/passwd'],
  ['like a word of ours', 'latest'],
  ['emoji and joiners', '👩‍👩‍👧 ✅ e\u0301 \u202eevil\u202c 工作'],
  ['a byte order mark and blanks', '\ufeff  \t trailing  \n\n'],
  ['escapes and quotes', '\u001b[31mred\u0007 "\'`$(reboot)\\n\\0 %s'],
  ['64 KiB of it', `${'€'.repeat(21_845)}\n`],
]

test.each(EDGES)('%s', async (_, body) => {
  for (const way of WAYS) for (const isReply of [false, true]) await arrives(way, isReply, body)
})

test('a dash alone is a body too, from a file', async () => {
  for (const way of ['stdin', 'file', 'editor'] as const) await arrives(way, false, '-')
})

test('whatever it is', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }),
    fc.string({
      unit: fc.constantFrom('\r', '\n', '\t', '-', '@', '"', "'", '\\', '\u2028', '\u0085', '\u{e0041}', 'é'),
      minLength: 1,
    }),
  )
  const body = text.filter(
    (one) => one.isWellFormed() && !one.includes('\0') && one !== '-' && Buffer.byteLength(one) <= 65_536,
  )
  await fc.assert(fc.asyncProperty(fc.constantFrom(...WAYS), fc.boolean(), body, arrives), {
    numRuns: Number(process.env.M4A_BODIES ?? 40),
  })
})

test('one byte too many is refused whole, at every way, and nothing is sent', async () => {
  const body = 'x'.repeat(65_537)
  const sent = async () => {
    const { messages } = (await mailbox.post('/mail/sent', ann, {})).body as { messages: { message_id: string }[] }
    return messages.map((one) => one.message_id)
  }
  const before = await sent()
  for (const way of WAYS) await expectRefused(way, body)
  expect(await sent()).toEqual(before)
})

async function expectRefused(way: Way, body: string): Promise<void> {
  const { words, stdin } = given(way, body)
  const said = await run(['send', '-s', 's', 'bob', ...words], ann, stdin).then(
    () => 'sent',
    (error: Error) => error.message,
  )
  expect(said).toContain('"kind":"too_large"')
  expect(said).toContain('65537')
}
