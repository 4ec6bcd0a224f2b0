// Commands that wait: woken by mail, ended by time or signal, and not ended by a restart of the mailbox.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InboxAnswer } from '../../src/wire/answers.ts'
import { BINARY, CliWorld, type Daemon, finished } from './support/cli-world.ts'

setDefaultTimeout(60_000)

let at: CliWorld
let daemon: Daemon
beforeAll(async () => {
  at = new CliWorld()
  daemon = await at.serve()
  for (const name of ['claude', 'codex']) await at.run(['admin', 'account', 'add', name])
})
afterAll(() => at[Symbol.asyncDispose]())

const wait = (...options: string[]) => at.spawn([BINARY, 'wait', '--as', 'codex', ...options])
const send = (subject: string) => at.run(['send', 'codex', '-s', subject, 'body', '--as', 'claude'])

/** Until somebody waits for mail to codex. */
async function parked(): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const { waiting } = await at.json<{ waiting: number }>(['ping', 'codex', '--as', 'claude'])
    if (waiting > 0) return
    await Bun.sleep(30)
  }
  throw new Error('nobody waits')
}

test('wait ends with one line when mail comes, and with 4 when its time is over', async () => {
  const waiting = wait()
  await parked()
  await send('wake up')
  const { code, out, err } = await finished(waiting)
  expect(code).toBe(0)
  const [, cursor = ''] = /wait --after ([0-9a-f]{8}\.[0-9a-f]+)\n$/.exec(err) ?? []
  expect(out).toMatch(/^1 new: claude\/s-[0-9a-f]{32} "wake up"; read: mail4agent view m4a_[0-9a-f]{24}\n$/)
  const listed = await at.json<InboxAnswer>(['inbox', '--as', 'codex'])
  expect(listed.messages[0]?.state).toBe('new')
  // still not closed: a wait of its own session counts it as new, one that goes on behind the cursor does not
  expect((await finished(wait())).code).toBe(0)
  const started = performance.now()
  const over = await finished(wait('--timeout', '1', '--after', cursor))
  expect(over).toMatchObject({ code: 4, out: '', err: expect.stringContaining('no mail in that time\n') })
  expect(performance.now() - started).toBeLessThan(5_000)
  expect((await at.json<InboxAnswer>(['inbox', '--as', 'codex'])).messages[0]?.state).toBe('new')
  await at.run(['ack', 'all', '--as', 'codex'])
})

test('wait outlives a restart of the mailbox, at another port', async () => {
  const waiting = wait()
  await parked()
  expect(await daemon.stop()).toBe(0)
  daemon = await at.serve()
  await send('after the restart')
  const { code, out } = await finished(waiting)
  expect(code).toBe(0)
  expect(out).toContain('"after the restart"')
  await at.run(['ack', 'all', '--as', 'codex'])
})

test('watch prints each letter once, and a signal ends it', async () => {
  const watching = at.spawn([BINARY, 'watch', '--json', '--as', 'codex'])
  await parked()
  for (const subject of ['one', 'two', 'three']) await send(subject)
  const lines: string[] = []
  const reader = watching.stdout.getReader()
  while (lines.length < 3) {
    const { value } = await reader.read()
    lines.push(...new TextDecoder().decode(value).split('\n').filter(Boolean))
  }
  expect(lines.map((line) => JSON.parse(line).subject)).toEqual(['one', 'two', 'three'])
  watching.kill('SIGINT')
  expect(await watching.exited).toBe(130)
  await at.run(['ack', 'all', '--as', 'codex'])
})

test('a restored backup: the mailbox must be stopped, and cursors from before are refused', async () => {
  await send('before the backup')
  const page = await at.json<InboxAnswer>(['inbox', '--as', 'codex'])
  const { path } = await at.json<{ path: string }>(['admin', 'backup', 'copy.sqlite'])
  expect(path).toBe(join(at.home, 'copy.sqlite'))
  expect((await at.run(['admin', 'backup', 'copy.sqlite'])).code).toBe(2)
  await send('after the backup')
  expect((await at.run(['admin', 'restore', 'copy.sqlite'])).err).toContain('runs on')
  await daemon.stop()
  expect(await at.run(['admin', 'restore', 'copy.sqlite'])).toMatchObject({
    code: 0,
    out: expect.stringContaining('is kept in'),
  })
  daemon = await at.serve()
  const after = await at.json<InboxAnswer>(['inbox', '--as', 'codex'])
  expect(after.messages.map((message) => message.subject)).toEqual(['before the backup'])
  const stale = await at.run(['inbox', '--cursor', page.cursor ?? '', '--as', 'codex', '--json'])
  expect(stale.code).toBe(1)
  expect(JSON.parse(stale.err).kind).toBe('cursor_expired')
  await at.run(['ack', 'all', '--as', 'codex'])
})

test('SIGTERM ends the mailbox within two seconds, with somebody waiting', async () => {
  const waiting = wait()
  await parked()
  const started = performance.now()
  expect(await daemon.stop()).toBe(0)
  expect(performance.now() - started).toBeLessThan(2_000)
  expect(() => readFileSync(join(at.dataDir, 'daemon.json'))).toThrow()
  waiting.kill()
  await waiting.exited
})
