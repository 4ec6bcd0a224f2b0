// mail4agent top on a real terminal: drawn live, on another size, through a restart, and the terminal given back.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { BINARY, Mailbox } from './support/mailbox.ts'

setDefaultTimeout(30_000)

let mailbox: Mailbox
beforeAll(async () => {
  mailbox = await Mailbox.start()
  await mailbox.account('claude')
})
afterAll(() => mailbox[Symbol.asyncDispose]())

const env = () => ({ PATH: process.env.PATH ?? '', HOME: mailbox.root, TERM: 'xterm', M4A_RECOGNISED_AGENTS: '' })

/** top on a terminal of its own; what it has written so far is `text`. */
function onTerminal(cols: number, rows: number) {
  const decoder = new TextDecoder()
  const seen = { text: '' }
  const child = Bun.spawn([BINARY, '--data-dir', mailbox.data, 'top'], {
    env: env(),
    terminal: {
      cols,
      rows,
      data: (_, bytes) => {
        seen.text += decoder.decode(bytes, { stream: true })
      },
    },
  })
  const until = async (what: RegExp | string) => {
    for (let tries = 0; tries < 500; tries++) {
      if (typeof what === 'string' ? seen.text.includes(what) : what.test(seen.text)) return
      await Bun.sleep(20)
    }
    throw new Error(`no ${what} in ${JSON.stringify(seen.text.slice(-2_000))}`)
  }
  return { child, seen, until }
}

const frames = (text: string): string[] => text.split('\x1b[?2026h').slice(1)

test('shows what happens as it happens, fits another size, outlives a restart, and leaves the terminal as it was', async () => {
  const { child, seen, until } = onTerminal(100, 20)
  await until(/claude +agent +0 +0/)
  expect(seen.text).toStartWith('\x1b[?1049h\x1b[?25l')
  await mailbox.post('/mail/send', mailbox.operatorKey, { to: 'claude', subject: 's', body: 'b' })
  await until(/claude +agent +0 +1 +\d+ s/)
  const before = frames(seen.text).length
  const began = Date.now()
  for (let letters = 0; letters < 300; letters++)
    await mailbox.post('/mail/send', mailbox.operatorKey, { to: 'claude', subject: 's', body: 'b' })
  await until(/claude +agent +0 +301/)
  expect(frames(seen.text).length - before).toBeLessThanOrEqual(2 + ((Date.now() - began) / 1_000) * 4)

  seen.text = ''
  child.terminal?.resize(40, 4)
  await until(/…/)
  await Bun.sleep(300)
  for (const frame of frames(seen.text)) {
    const lines = Bun.stripANSI(frame).split('\r\n')
    expect(lines.length).toBeLessThanOrEqual(4)
    for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(40)
  }
  child.terminal?.resize(100, 20)
  await mailbox.down()
  await until(/trying again/)
  await mailbox.up()
  seen.text = ''
  await until(/q quits/)
  child.terminal?.write('q')
  expect(await child.exited).toBe(0)
  await until('\x1b[?25h\x1b[?1049l')
})

test.each<[NodeJS.Signals, number]>([
  ['SIGTERM', 143],
  ['SIGINT', 130],
])('%s gives the terminal back, too', async (signal, code) => {
  const { child, until } = onTerminal(100, 20)
  await until(/q quits/)
  child.kill(signal)
  expect(await child.exited).toBe(code)
  await until('\x1b[?25h\x1b[?1049l')
})

test('in a pipe it is said once, and an account that is no operator’s is refused', async () => {
  const run = async (...words: string[]) => {
    const child = Bun.spawn([BINARY, '--data-dir', mailbox.data, ...words], { env: env(), stderr: 'pipe' })
    return { out: await new Response(child.stdout).text(), code: await child.exited }
  }
  const { out, code } = await run('top')
  expect(code).toBe(0)
  expect(out).toMatch(
    /^\d+ live · 30\d unread, oldest \d+ s · wake on \(1 mailbox has letters that have woken nobody\) · dispatch off · other machines off\naccount\tkind\t/,
  )
  expect(out).not.toContain('\x1b')
  expect(JSON.parse((await run('top', '--json')).out).accounts).toHaveLength(2)
  const token = await mailbox.account('plain')
  const child = Bun.spawn([BINARY, '--data-dir', mailbox.data, 'top'], {
    env: { ...env(), M4A_TOKEN: token },
    stderr: 'pipe',
  })
  expect(await new Response(child.stderr).text()).toContain('this needs the capability operator')
  expect(await child.exited).toBe(1)
})
