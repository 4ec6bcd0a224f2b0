// The bridge between lines and the door: both eras, long waits, cancelling, and a daemon that is away.

import { expect, test } from 'bun:test'
import { handleMcp } from '../../../../src/door/mcp/door.ts'
import { type BridgeOptions, runBridge } from '../../../../src/door/mcp/stdio.ts'
import { mailTools } from '../../../../src/door/mcp/tools.ts'
import { LIMITS } from '../../../../src/wire/limits.ts'
import { Refusal } from '../../../../src/wire/refusal.ts'
import { dig, type Json, list, text } from '../../../support/json.ts'
import { legacy, modern, Recorder } from './client.ts'

/** The door without a network between. */
const toDoor =
  (visitor: Recorder): BridgeOptions['forward'] =>
  async (body, headers, signal) => {
    const request = new Request('http://localhost/mcp', { method: 'POST', headers, body, signal })
    return (await handleMcp(request, mailTools, visitor)).text()
  }

/** A running bridge: `say` writes to its input, `heard` waits for the next line that it wrote. */
function start(forward: BridgeOptions['forward']) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, { highWaterMark: 100 })
  const input = writable.getWriter()
  const out: Json[] = []
  let wake = () => {}
  const write = (line: string) => {
    expect(line).not.toContain('\n')
    out.push(JSON.parse(line))
    wake()
  }
  const done = runBridge({ input: readable, write, forward })
  return {
    done,
    raw: (bytes: Uint8Array) => input.write(bytes),
    say: (...messages: Json[]) => input.write(Buffer.from(messages.map((one) => `${JSON.stringify(one)}\n`).join(''))),
    end: () => input.close().then(() => done),
    silent: () => out.length === 0,
    async heard(): Promise<Json> {
      while (out.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      return out.shift() ?? null
    },
  }
}

const wait = (seconds: number, more: { [key: string]: Json } = {}, id: Json = 'w') =>
  legacy('tools/call', { name: 'm4a_mail_inbox', arguments: { wait_secs: seconds }, ...more }, id)

test('legacy and modern messages pass, ids stay what they were', async () => {
  const visitor = new Recorder()
  const bridge = start(toDoor(visitor))
  await bridge.say(legacy('initialize', { protocolVersion: '2025-06-18' }, 'a-string'))
  const initialized = await bridge.heard()
  expect([dig(initialized, 'id'), dig(initialized, 'result', 'protocolVersion')]).toEqual(['a-string', '2025-06-18'])
  await bridge.say({ jsonrpc: '2.0', method: 'notifications/initialized' })
  await bridge.say(modern('tools/call', { name: 'm4a_mail_whoami' }).message)
  expect(await bridge.heard()).toMatchObject({ id: 1, result: { resultType: 'complete' } })
  const _meta = { threadId: 't-1' }
  await bridge.say(legacy('tools/call', { name: 'm4a_mail_whoami', _meta }, 2))
  expect(dig(await bridge.heard(), 'id')).toBe(2)
  expect(visitor.performed[1]?.said.conversation?.key).toBe('t-1')
  await bridge.say([legacy('ping', {}, 3), legacy('ping', {}, 4)])
  expect(list(await bridge.heard())).toHaveLength(2)
  await bridge.end()
})

test('lines may come in any pieces; what is no JSON in UTF-8 is refused and ends nothing', async () => {
  const visitor = new Recorder()
  const bridge = start(toDoor(visitor))
  const line = Buffer.from(
    `\r\n${JSON.stringify(legacy('tools/call', { name: 'm4a_mail_send', arguments: { body: 'grüße' } }))}\r\n`,
  )
  for (const byte of line) await bridge.raw(Buffer.of(byte))
  expect(dig(await bridge.heard(), 'id')).toBe(1)
  expect(visitor.performed[0]?.request).toEqual({ body: 'grüße' })
  for (const bad of [Buffer.from('{"jsonrpc":\n'), Buffer.of(0x22, 0xff, 0x22, 0x0a)]) {
    await bridge.raw(bad)
    expect(dig(await bridge.heard(), 'error', 'code')).toBe(-32700)
  }
  await bridge.raw(Buffer.from(JSON.stringify(legacy('ping', {}, 'last'))))
  await bridge.end()
  expect(dig(await bridge.heard(), 'id')).toBe('last')
})

test('without a daemon the client still gets its tools, and each call says what is wrong', async () => {
  const visitor = new Recorder()
  const away = () => Promise.reject(new Refusal('daemon_unreachable', 'nobody listens there'))
  let forward: BridgeOptions['forward'] = away
  const bridge = start((...call) => forward(...call))
  await bridge.say(legacy('initialize', { protocolVersion: '2025-11-25' }, 1))
  expect(dig(await bridge.heard(), 'result', 'protocolVersion')).toBe('2025-11-25')
  await bridge.say(legacy('tools/list', {}, 2))
  expect(list(await bridge.heard(), 'result', 'tools')).toHaveLength(8)
  const whoami = { name: 'm4a_mail_whoami' }
  for (const message of [legacy('tools/call', whoami, 3), modern('tools/call', whoami).message]) {
    await bridge.say(message)
    const result = { isError: true, structuredContent: { kind: 'daemon_unreachable', hint: expect.any(String) } }
    expect(await bridge.heard()).toMatchObject({ result })
  }
  // It is started again: the next call reaches it.
  forward = toDoor(visitor)
  await bridge.say(legacy('tools/call', whoami, 4))
  expect(await bridge.heard()).toMatchObject({ id: 4, result: { structuredContent: { done: true } } })
  await bridge.end()
})

test('a refusal of the HTTP door becomes a result', async () => {
  const refusal = new Refusal('unauthenticated', 'no account has that token')
  const bridge = start(async () => JSON.stringify(refusal))
  await bridge.say(legacy('tools/call', { name: 'm4a_mail_whoami' }))
  expect(await bridge.heard()).toMatchObject({
    result: { isError: true, structuredContent: { kind: 'unauthenticated', hint: refusal.hint } },
  })
  const stranger = start(async () => '<html>')
  await stranger.say(legacy('tools/call', { name: 'm4a_mail_whoami' }))
  expect(text(await stranger.heard(), 'result', 'structuredContent', 'kind')).toBe('daemon_unreachable')
  await Promise.all([bridge.end(), stranger.end()])
})

test('a wait longer than the door holds is repeated until mail ends it, also over a restart', async () => {
  const slices: object[] = []
  const stopping = new Refusal('shutting_down', 'stopping')
  const answers = [{ waited_secs: 50 }, stopping, { waited_secs: 49.9 }, { waited_secs: 3, messages: [{}] }]
  const visitor = new Recorder(({ request }) => {
    slices.push(request)
    const next = answers.shift() ?? {}
    return next instanceof Refusal ? Promise.reject(next) : { messages: [], ...next }
  })
  const bridge = start(toDoor(visitor))
  await bridge.say(wait(3_600))
  const answer = await bridge.heard()
  expect(slices).toEqual(Array(4).fill({ wait_secs: 50, max_bytes: LIMITS.budgetMcp }))
  expect(dig(answer, 'id')).toBe('w')
  const structured = dig(answer, 'result', 'structuredContent')
  expect(structured).toEqual(JSON.parse(text(answer, 'result', 'content', 0, 'text')))
  // The recorder answered at once; what is told is the time that went by here.
  expect(dig(structured, 'waited_secs')).toBeLessThan(10)
  await bridge.end()
})

test('a refusal that will not pass ends a long wait', async () => {
  const visitor = new Recorder(() => Promise.reject(new Refusal('permission_denied', 'no')))
  const bridge = start(toDoor(visitor))
  await bridge.say(wait(600))
  expect(text(await bridge.heard(), 'result', 'structuredContent', 'kind')).toBe('permission_denied')
  expect(visitor.performed).toHaveLength(1)
  await bridge.end()
})

test('a wait that the door can hold is passed on untouched', async () => {
  const visitor = new Recorder(() => ({ waited_secs: 50 }))
  const bridge = start(toDoor(visitor))
  await bridge.say(wait(50))
  expect(dig(await bridge.heard(), 'result', 'structuredContent', 'waited_secs')).toBe(50)
  expect(visitor.performed).toHaveLength(1)
  await bridge.end()
})

/** Parks until the client leaves, as the engine does. */
const parked = () =>
  new Recorder(
    ({ patience: { signal } }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve({}), { once: true })),
  )

test.each([30, 600])('notifications/cancelled ends a wait of %d s, and it is not answered', async (seconds) => {
  const visitor = parked()
  const bridge = start(toDoor(visitor))
  await bridge.say(wait(seconds))
  while (visitor.performed.length === 0) await Bun.sleep(1)
  await bridge.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'w' } })
  await bridge.say(legacy('ping', {}, 'after'))
  expect(dig(await bridge.heard(), 'id')).toBe('after')
  await bridge.end()
  expect(visitor.performed[0]?.patience.signal.aborted).toBe(true)
  expect(bridge.silent()).toBe(true)
})

test('the end of the input ends a wait', async () => {
  const visitor = parked()
  const bridge = start(toDoor(visitor))
  await bridge.say(wait(30))
  while (visitor.performed.length === 0) await Bun.sleep(1)
  const begun = performance.now()
  await bridge.end()
  expect(performance.now() - begun).toBeLessThan(1_000)
})

test('a client that no longer reads ends the bridge at once, also while a call waits', async () => {
  const visitor = parked()
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, { highWaterMark: 100 })
  const gone = new Error('nobody reads')
  const write = () => {
    throw gone
  }
  const done = runBridge({ input: readable, write, forward: toDoor(visitor) }).catch((error) => error)
  const input = writable.getWriter()
  const say = (message: Json) => input.write(Buffer.from(`${JSON.stringify(message)}\n`))
  await say(wait(30))
  while (visitor.performed.length === 0) await Bun.sleep(1)
  await say(legacy('ping', {}, 'p'))
  expect(await done).toBe(gone)
  expect(visitor.performed[0]?.patience.signal.aborted).toBe(true)
})

test('a line above 8 MiB is refused before it ends, its rest is dropped, and the next one is read', async () => {
  const bridge = start(toDoor(new Recorder()))
  const piece = Buffer.alloc(1024 * 1024, 'a')
  for (let i = 0; i < 9; i++) await bridge.raw(piece)
  expect(await bridge.heard()).toMatchObject({ id: null, error: { code: -32600 } })
  for (let i = 0; i < 9; i++) await bridge.raw(piece)
  await bridge.raw(Buffer.from(`"}\n${JSON.stringify(legacy('ping', {}, 'next'))}\n`))
  expect(dig(await bridge.heard(), 'id')).toBe('next')
  await bridge.end()
  expect(bridge.silent()).toBe(true)
})
