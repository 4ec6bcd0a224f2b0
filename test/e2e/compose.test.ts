// Writing at a terminal: questions for a letter, the editor for an answer; nothing is sent that was not meant, and no text is lost.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BINARY, Mailbox } from './support/mailbox.ts'

setDefaultTimeout(60_000)

let mailbox: Mailbox
let ann: string
let bob: string
beforeAll(async () => {
  mailbox = await Mailbox.start()
  ann = await mailbox.account('ann')
  bob = await mailbox.account('bob')
})
afterAll(() => mailbox[Symbol.asyncDispose]())

const environment = (token: string, more: Record<string, string> = {}) => ({
  PATH: '/usr/bin:/bin',
  HOME: mailbox.root,
  TMPDIR: mailbox.root,
  TERM: 'xterm',
  M4A_DATA_DIR: mailbox.data,
  M4A_TOKEN: token,
  ...more,
})
const inbox = async (token: string) =>
  (await mailbox.post('/mail/inbox', token, {})).body.messages as Record<string, string>[]

/** A program that stands for a person's editor: `commands` of a shell, with the file as $1. */
function editor(commands: string): string {
  const path = join(mailbox.root, 'editor')
  writeFileSync(path, `#!/bin/sh\n${commands}\n`)
  chmodSync(path, 0o755)
  return path
}

/** Runs a command on a terminal of its own; types each answer once the question before it is there. */
async function atTerminal(
  token: string,
  argv: string[],
  typed: [question: string, keys: string][],
  more: Record<string, string> = {},
): Promise<{ code: number; text: string }> {
  const parts: string[] = []
  const child = Bun.spawn([BINARY, ...argv], {
    env: environment(token, more),
    terminal: { cols: 100, rows: 40, data: (_, chunk) => void parts.push(new TextDecoder().decode(chunk)) },
  })
  for (const [question, keys] of typed) {
    const from = parts.length
    for (
      let tries = 0;
      !parts
        .slice(Math.max(0, from - 1))
        .join('')
        .includes(question) && tries < 200;
      tries++
    )
      await Bun.sleep(25)
    await Bun.sleep(100)
    child.terminal?.write(keys)
  }
  return { code: await child.exited, text: parts.join('') }
}

test('questions, then a letter', async () => {
  const { code, text } = await atTerminal(
    ann,
    ['send'],
    [
      ['To', 'bob'],
      ['bob', '\r'],
      ['and', '\r'],
      ['Subject', 'by hand\r'],
      ['Text', 'first line'],
      ['first', '\r'],
      ['', '\r'],
      ['', 'second'],
      ['second', '\u0004'],
      ['Send it', 'y'],
    ],
  )
  expect([code, text]).toEqual([0, expect.stringContaining('sent m4a_')])
  expect(await inbox(bob)).toMatchObject([{ subject: 'by hand', body: 'first line\n\nsecond' }])
  expect(await inbox(ann)).toEqual([])
})

test('Ctrl-D ends the questions; an answer of no, or Ctrl-C, keeps what was written', async () => {
  const before = (await inbox(bob)).length
  expect(await atTerminal(ann, ['send'], [['To', '\u0004']])).toMatchObject({ code: 1 })
  const head: [string, string][] = [
    ['To', 'bob'],
    ['bob', '\r'],
    ['and', '\r'],
    ['Subject', 'kept\r'],
  ]
  expect(await atTerminal(ann, ['send'], [...head, ['Text', '\u0004']])).toMatchObject({ code: 1 })
  const EDITOR = editor('printf "hours of work" > "$1"')
  for (const [answer, more] of [
    ['n', { EDITOR }],
    ['\u0003', { EDITOR }],
    ['\u0004', { EDITOR }],
    ['n', {}],
  ] as const) {
    const typing: [string, string][] = 'EDITOR' in more ? [] : [['Text', 'hours of work\u0004']]
    const { code, text } = await atTerminal(ann, ['send'], [...head, ...typing, ['Send it', answer]], more)
    const [, path = ''] = /kept in (\S+letter\.md)/.exec(text) ?? []
    expect([code, readFileSync(path, 'utf8')]).toEqual([1, 'hours of work'])
  }
  expect(await inbox(bob)).toHaveLength(before)
})

test('who gives up sends nothing', async () => {
  const before = (await inbox(bob)).length
  const { code, text } = await atTerminal(ann, ['send'], [['To', '\u0003']])
  expect(code).toBe(1)
  expect(text).toContain('Nothing was sent.')
  expect(await inbox(bob)).toHaveLength(before)
})

test('an answer in the editor, below what was written, closes it', async () => {
  const [letter] = await inbox(bob)
  const { code } = await atTerminal(bob, ['reply', 'latest', '--quote'], [], {
    EDITOR: editor('printf "agreed\\r\\n" >> "$1"'),
  })
  expect(code).toBe(0)
  const [answer] = await inbox(ann)
  expect(answer?.reply_to).toBe(letter?.message_id as string)
  expect(answer?.body).toMatch(
    /^ann wrote on \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d:\n> first line\n(> .*\n)*\nagreed\r\n$/,
  )
  expect(await inbox(bob)).toEqual([])
})

test('an editor that fails, or leaves all as it was, sends nothing; what cannot be sent is kept', async () => {
  const send = (commands: string, to = 'bob') =>
    atTerminal(ann, ['send', to, '-s', 's', '--edit'], [], { VISUAL: editor(commands) })
  expect((await send('exit 3')).code).toBe(2)
  expect(await send('true')).toMatchObject({ code: 2, text: expect.stringContaining('nothing is sent') })
  expect(await inbox(bob)).toEqual([])
  const { code, text } = await send('printf "hours of work" > "$1"', 'nobody')
  expect(code).toBe(1)
  const [, path = ''] = /kept in (\S+letter\.md)/.exec(text) ?? []
  expect(readFileSync(path, 'utf8')).toBe('hours of work')
})

test('a silent pipe is no person: nothing is asked, and nothing hangs', async () => {
  const child = Bun.spawn([BINARY, 'send'], { env: environment(ann), stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
  expect(await child.exited).toBe(2)
  expect(await new Response(child.stderr).text()).toContain('the recipient and the body are missing')
})
