// The channel of Claude Code: what it is called when the transcript shows the letter, and when it shows nothing.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Caller } from '../../../src/engine/mail.ts'
import type { WakeLetter, WakeTarget } from '../../../src/wake/adapter.ts'
import { claudeChannel } from '../../../src/wake/adapters/claude-channel.ts'
import { Standing } from '../../../src/wake/standing.ts'

const DOOR = 'claude-channel' as const
const SESSION = '0b4f6a39-3c41-4a1c-9d38-0a4d7a3f1c01'
const caller = { session: { id: 1 } } as unknown as Caller
const never = new AbortController().signal
const letter: WakeLetter = {
  id: 'm4a_000000000001000000000001',
  count: 1,
  text: 'mail4agent: a letter has come for you.',
  plain: 'plain',
  letter: null,
  to: 'ben',
  room: null,
}

let home: string
let transcript: string
let target: WakeTarget

const status = (status: string) =>
  writeFileSync(
    join(home, '.claude', 'sessions', `${process.pid}.json`),
    JSON.stringify({ pid: process.pid, procStart: '42', sessionId: SESSION, cwd: '/work/x', status }),
  )

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'm4a-channel-'))
  const project = join(home, '.claude', 'projects', '-work-x')
  mkdirSync(project, { recursive: true })
  mkdirSync(join(home, '.claude', 'sessions'))
  transcript = join(project, `${SESSION}.jsonl`)
  target = {
    account: 'ben',
    session: 's-0123',
    row: 1,
    provider: 'claude',
    providerSession: SESSION,
    conversation: null,
    cwd: null,
    exe: null,
    process: { pid: process.pid, start: '42' },
    attended: true,
    environment: { HOME: home },
  }
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

/** Wakes it while a channel stands by, which makes `lines` of the text in the transcript. */
async function ring(door: ReturnType<typeof claudeChannel>, standing: Standing, lines: (id: string) => string[]) {
  const seat = standing.wait(caller, { door: DOOR, wait_secs: 60 }, 60_000, never)
  const woken = door.wake(target, letter, never)
  const { wake } = await seat
  expect(wake).toEqual({ message_id: letter.id, text: letter.text })
  for (const line of lines(letter.id)) appendFileSync(transcript, `${line}\n`)
  return woken
}
const shown = (id: string) => [
  JSON.stringify({
    type: 'queue-operation',
    content: `<channel source="x" letter_id="${id}">\nmail4agent: …\n</channel>`,
  }),
]

test('started or queued, by what it was doing, once its transcript shows the letter', async () => {
  const standing = new Standing(Date.now, () => {})
  const door = claudeChannel(standing)
  expect(await door.probe(target, never)).toEqual({
    ready: false,
    why: expect.stringContaining('no channel stands by'),
  })
  for (const [doing, outcome] of [
    ['idle', 'started'],
    ['busy', 'queued'],
    ['waiting', 'queued'],
  ] as const) {
    status(doing)
    // of a letter before, or of the same one elsewhere than in a channel: no evidence
    appendFileSync(transcript, `${shown(letter.id)[0]}\n`)
    expect(await ring(door, standing, (id) => [`{"text":"${id}"}`, ...shown(id)])).toMatchObject({ outcome })
  }
})

test('unknown where the session shows nothing of it, and not tried again until another channel comes', async () => {
  let now = Date.now()
  const standing = new Standing(
    () => now,
    () => {},
  )
  const door = claudeChannel(standing)
  status('idle')
  const others = (id: string) => [`{"text":"${id}"}`, ...shown('m4a_000000000002000000000002')]
  expect(await ring(door, standing, others)).toMatchObject({ outcome: 'unknown' })
  const stop = new AbortController()
  const again = standing.wait(caller, { door: DOOR, wait_secs: 60 }, 60_000, stop.signal)
  expect(await door.probe(target, never)).toMatchObject({
    ready: false,
    why: expect.stringContaining('showed nothing'),
  })
  stop.abort()
  await again
  now += 60_000
  expect(await door.probe(target, never)).toMatchObject({ why: expect.stringContaining('no channel stands by') })
  const other = standing.wait(caller, { door: DOOR, wait_secs: 60 }, 60_000, never)
  expect(await door.probe(target, never)).toEqual({ ready: true, busy: false })
  standing.stop()
  await other
})
