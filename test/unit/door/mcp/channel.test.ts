// The channel's server: the older era alone, nothing rings before the client is ready, and odd lines end nothing.
import { expect, test } from 'bun:test'
import { type ChannelOptions, runChannel } from '../../../../src/door/mcp/channel.ts'
import { dig, type Json } from '../../../support/json.ts'
import { legacy, modern } from './client.ts'

const WAKE = { message_id: 'm4a_000000000001000000000001', text: 'a letter\nhas come' }
const INITIALIZED: Json = { jsonrpc: '2.0', method: 'notifications/initialized' }

/** A running channel: `say` writes to its input, `heard` waits for the next line that it wrote. */
function start(next: ChannelOptions['next'] = async () => null) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, { highWaterMark: 100 })
  const input = writable.getWriter()
  const out: Json[] = []
  let wake = () => {}
  const write = (line: string) => {
    expect(line).not.toContain('\n')
    out.push(JSON.parse(line))
    wake()
  }
  const done = runChannel({ input: readable, write, next })
  const raw = (text: string) => input.write(Buffer.from(`${text}\n`))
  return {
    raw,
    say: (message: Json) => raw(JSON.stringify(message)),
    end: () => input.close().then(() => done),
    async heard(): Promise<Json> {
      while (out.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      return out.shift() ?? null
    },
  }
}

test('a modern client is told to begin with initialize, which agrees on a version without batches', async () => {
  const channel = start()
  await channel.say(modern('server/discover', {}).message)
  expect(dig(await channel.heard(), 'error', 'code')).toBe(-32601)
  for (const [asked, agreed] of [
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
  ] as const) {
    await channel.say(legacy('initialize', { protocolVersion: asked }, asked))
    const answer = await channel.heard()
    expect(answer).toMatchObject({ id: asked, result: { protocolVersion: agreed } })
    expect(dig(answer, 'result', 'capabilities')).toEqual({ experimental: { 'claude/channel': {} } })
  }
  await channel.end()
})

test('rings once the client is ready, as often as there is something, each as one notification', async () => {
  let asked = 0
  const channel = start(async () => (++asked <= 2 ? WAKE : null))
  await channel.say(legacy('ping', {}, 1))
  expect(await channel.heard()).toMatchObject({ id: 1, result: {} })
  expect(asked).toBe(0)
  await channel.say(INITIALIZED)
  const notification = {
    jsonrpc: '2.0',
    method: 'notifications/claude/channel',
    params: { content: WAKE.text, meta: { letter_id: WAKE.message_id } },
  }
  expect(await channel.heard()).toEqual(notification)
  expect(await channel.heard()).toEqual(notification)
  await channel.say(INITIALIZED)
  await channel.say(legacy('ping', {}, 2))
  expect(await channel.heard()).toMatchObject({ id: 2 })
  expect(asked).toBe(3)
  await channel.end()
})

test('the end of the input ends the wait', async () => {
  const waiting = Promise.withResolvers<AbortSignal>()
  const channel = start((signal) => {
    waiting.resolve(signal)
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null)))
  })
  await channel.say(INITIALIZED)
  const signal = await waiting.promise
  await channel.end()
  expect(signal.aborted).toBe(true)
})

test('odd lines are refused and end nothing; a permission question is not answered', async () => {
  const channel = start()
  for (const [line, code] of [
    ['no json', -32700],
    ['[]', -32600],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    [JSON.stringify(legacy('tools/list', {}, 3)), -32601],
    [JSON.stringify(legacy('notifications/claude/channel/permission_request', {}, 4)), -32601],
  ] as const) {
    await channel.raw(line)
    expect(dig(await channel.heard(), 'error', 'code')).toBe(code)
  }
  await channel.say({ jsonrpc: '2.0', method: 'notifications/claude/channel/permission_request', params: {} })
  await channel.say({ jsonrpc: '2.0', id: 9, result: {} })
  await channel.say(legacy('ping', {}, 5))
  expect(await channel.heard()).toMatchObject({ id: 5 })
  await channel.end()
})

test('ends when nobody reads what rings', async () => {
  const gone = new Error('nobody reads')
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, { highWaterMark: 100 })
  const write = () => {
    throw gone
  }
  const done = runChannel({ input: readable, write, next: async () => WAKE }).then(
    () => null,
    (error: unknown) => error,
  )
  await writable.getWriter().write(Buffer.from(`${JSON.stringify(INITIALIZED)}\n`))
  expect(await done).toBe(gone)
})
