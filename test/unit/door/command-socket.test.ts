// The command socket: whatever lines come, each gets one answer line; who calls is what the kernel says, and `as` widens nothing.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { openAttestor } from '../../../src/attest/attestor.ts'
import { MailClient } from '../../../src/client/client.ts'
import { listenForCommands, openCommandSocket } from '../../../src/door/command-socket.ts'
import { type Daemon, startDaemon } from '../../../src/door/daemon.ts'
import { LIMITS } from '../../../src/wire/limits.ts'
import { folder, refusalOf, silent } from './support.ts'

type Line = Record<string, any>

/** Sends bytes, closes its half, and resolves to the lines that come back. `pieces`: in so many writes. */
function lines(path: string, bytes: Uint8Array, pieces = 1): Promise<Line[]> {
  return new Promise((resolve, reject) => {
    let seen = ''
    const socket: Socket = connect({ path, allowHalfOpen: true }, async () => {
      const size = Math.max(1, Math.ceil(bytes.length / pieces))
      for (let at = 0; at < bytes.length; at += size) {
        socket.write(bytes.subarray(at, at + size))
        await new Promise((done) => setImmediate(done))
      }
      socket.end()
    })
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => {
      seen += text
    })
    socket.on('error', reject)
    socket.on('end', () => {
      const found = seen.split('\n')
      if (found.pop() !== '') reject(new Error('the last answer has no end'))
      else resolve(found.map((line) => JSON.parse(line)))
    })
  })
}

const place = folder()
const path = join(place.path, 'send.sock')
let daemon: Daemon
const clients = new Map<string, MailClient>()
const ask = async (line: unknown): Promise<Line> => {
  const [answer, ...more] = await lines(path, Buffer.from(`${JSON.stringify(line)}\n`))
  if (!answer || more.length > 0) throw new Error('not one line')
  return answer
}

beforeAll(async () => {
  daemon = await startDaemon({
    dataDir: place.path,
    port: 0,
    socket: null,
    commands: { path, given: true },
    recognised: [],
    log: silent,
  })
  const base = `http://127.0.0.1:${daemon.port}`
  const operator = new MailClient({ base, token: readFileSync(join(place.path, 'operator.key'), 'utf8') })
  clients.set('operator', operator)
  for (const id of ['ann', 'bob']) {
    const { secret } = await operator.admin('participant', { id })
    clients.set(id, new MailClient({ base, token: secret ?? '' }))
  }
  await clients.get('ann')?.call('whoami', {})
})
afterAll(async () => {
  for (const client of clients.values()) client.close()
  await daemon.stop()
  place[Symbol.dispose]()
})

test('mail is sent as the session that the caller is; no token is asked for', async () => {
  const me = await clients.get('ann')?.call('whoami', {})
  const sent = await ask({ as: 'ann', to: 'bob', text: 'first line\nsecond' })
  expect(sent).toMatchObject({ ok: true, room: 'bob' })
  expect(sent.event_id).toMatch(/^m4a_/)
  const page = await clients.get('bob')?.call('inbox', {})
  expect(page?.messages.at(-1)).toMatchObject({
    message_id: sent.event_id,
    from_text: me?.address_text,
    subject: 'first line',
    body: 'first line\nsecond',
  })
  expect(await ask({ as: me?.address_text, to: 'bob', text: 'x' })).toMatchObject({ ok: true })
  expect(await ask({ as: 'ANN', to: '#nowhere', text: 'x' })).toMatchObject({
    ok: false,
    error: expect.stringMatching(/^unknown_room: /),
    refusal: { kind: 'unknown_room' },
  })
})

test('as chooses among what the caller is already: everything else is not_you', async () => {
  // bob's token was used by this very process a moment ago, so it is a session of bob, too; nobody is the third
  expect(await ask({ as: 'carol', to: 'bob', text: 'x' })).toMatchObject({ ok: false, refusal: { kind: 'not_you' } })
  expect(await ask({ as: 'ann/s-0000', to: 'bob', text: 'x' })).toMatchObject({ refusal: { kind: 'not_you' } })
  expect(await ask({ as: '#room', to: 'bob', text: 'x' })).toMatchObject({ refusal: { kind: 'malformed' } })
  expect(await ask({ as: 'ann@desk', to: 'bob', text: 'x' })).toMatchObject({ refusal: { kind: 'malformed' } })
})

test('commands have names, and need the right to use rooms and a link', async () => {
  expect(await ask({ cmd: 'rooms.list', as: 'ann', args: {} })).toMatchObject({
    refusal: { kind: 'permission_denied' },
  })
  await clients.get('operator')?.admin('participant/set', { id: 'ann', may_chat: true })
  for (const cmd of ['rooms.list', 'rooms.read', 'mentions', 'threads.read'])
    expect(await ask({ cmd, as: 'ann', args: { room: 'r', event: '$e' } })).toMatchObject({ ok: false })
  expect(await ask({ cmd: 'mentions', as: 'ann' })).toMatchObject({ refusal: { kind: 'link_off' } })
  expect(await ask({ cmd: 'rooms.read', as: 'ann', args: {} })).toMatchObject({
    refusal: { kind: 'malformed', field: 'room' },
  })
  for (const cmd of ['rooms.nothing', 'constructor', 'rooms.constructor', '', 'list'])
    expect(await ask({ cmd, as: 'ann' })).toMatchObject({ refusal: { kind: 'malformed', field: 'cmd' } })
})

test('unknown members are refused by name, and nothing is stored', async () => {
  expect(await ask({ as: 'ann', to: 'bob', text: 'x', from: 'operator' })).toMatchObject({
    refusal: { kind: 'malformed', field: 'from' },
  })
  expect(await ask({ as: 'ann', to: 'bob', text: 'x'.repeat(LIMITS.body + 1) })).toMatchObject({
    refusal: { kind: 'too_large', field: 'text' },
  })
})

test('a line over the limit is answered like any other, and the connection goes on', async () => {
  const long = Buffer.alloc(LIMITS.request + 10, 'x')
  const answers = await lines(path, Buffer.concat([long, Buffer.from('\n{"as":"ann","to":"bob","text":"y"}\n')]), 20)
  expect(answers).toMatchObject([{ refusal: { kind: 'too_large', field: 'line' } }, { ok: true }])
}, 30_000)

const asText = (value: unknown) => JSON.stringify(value)
const words = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.json(),
  fc.record({ as: fc.jsonValue(), to: fc.jsonValue(), text: fc.jsonValue() }).map(asText),
  fc
    .record({
      cmd: fc.constantFrom('rooms.list', 'rooms.send', '__proto__'),
      as: fc.constantFrom('ann', ''),
      args: fc.jsonValue(),
    })
    .map(asText),
  fc.constant('{"as":"ann","to":"bob","text":"z"}'),
)
/** Bytes of a line: anything but its end. */
const noise = fc
  .oneof(
    words.map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  )
  .map((bytes) => Buffer.from(bytes.map((byte) => (byte === 10 ? 32 : byte))))

test('every line gets one answer line, whatever it is and however it is cut into pieces', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(noise, { maxLength: 8 }),
      fc.integer({ min: 1, max: 9 }),
      fc.boolean(),
      async (all, pieces, closed) => {
        const bytes = Buffer.concat(all.flatMap((line, at) => (at > 0 ? [Buffer.from('\n'), line] : [line])))
        // what comes behind the last newline is a line only where there is something
        const expected = closed ? all.length : all.length - (all.at(-1)?.length === 0 ? 1 : 0)
        const whole = closed && all.length > 0 ? Buffer.concat([bytes, Buffer.from('\n')]) : bytes
        const answers = await lines(path, whole, pieces)
        expect(answers).toHaveLength(expected)
        for (const answer of answers) expect(answer.ok === true || typeof answer.error === 'string').toBe(true)
      },
    ),
    { numRuns: 60 },
  )
  expect(await ask({ as: 'ann', to: 'bob', text: 'still there' })).toMatchObject({ ok: true })
}, 60_000)

describe('the file', () => {
  const attestor = openAttestor()
  afterAll(() => attestor.close())

  test('is 0600; one that answers is left alone, one that a dead daemon left is replaced', async () => {
    expect(statSync(path).mode & 0o777).toBe(0o600)
    using other = folder()
    const again = startDaemon({
      dataDir: other.path,
      port: 0,
      socket: null,
      commands: { path, given: true },
      recognised: [],
      log: silent,
    })
    expect((await refusalOf(again)).toJSON()).toMatchObject({ kind: 'port_taken', path })
    expect(await ask({ as: 'ann', to: 'bob', text: 'x' })).toMatchObject({ ok: true })

    const stale = join(other.path, 'stale.sock')
    const script = `require('node:net').createServer().listen(${JSON.stringify(stale)}, () => process.kill(process.pid, 'SIGKILL'))`
    await Bun.spawn([process.execPath, '-e', script], { stdout: 'ignore', stderr: 'ignore' }).exited
    expect(existsSync(stale)).toBe(true)
    const door: any = { calls: { closed: new AbortController().signal, enter() {}, leave() {} } }
    const listening = await listenForCommands(stale, 'M4A_SEND_SOCK', attestor, door)
    expect(await lines(stale, Buffer.from('no json\n'))).toMatchObject([
      { refusal: { kind: 'malformed', field: 'line' } },
    ])
    await listening.stop(0)
    expect(existsSync(stale)).toBe(false)
  })

  test('a usual path that is too long is done without; one that was asked for is refused', async () => {
    const long = join(place.path, 'x'.repeat(120))
    const door: any = { log: silent }
    expect(await openCommandSocket({ path: long, given: false }, attestor, door)).toBeNull()
    expect((await refusalOf(openCommandSocket({ path: long, given: true }, attestor, door))).kind).toBe('usage')
  })
})
