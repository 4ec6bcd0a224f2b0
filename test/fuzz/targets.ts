// Every reader of what others write: how it is run, what it may throw, which law it keeps, and inputs to begin with.
import { Database } from 'bun:sqlite'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startedWith, variables } from '../../src/attest/darwin/arguments.ts'
import * as darwin from '../../src/attest/darwin/layout.ts'
import { hintFor } from '../../src/attest/darwin/pcb-list.ts'
import { softLimit } from '../../src/attest/linux/descriptors.ts'
import { parseStat, stat } from '../../src/attest/linux/stat.ts'
import { splitCommandLine } from '../../src/attest/windows/command-line.ts'
import { findRow, SHAPES } from '../../src/attest/windows/tcp-rows.ts'
import { configPath, settingsFor } from '../../src/cli/config.ts'
import { mailOf } from '../../src/cli/import/aipass/mail.ts'
import { importOf, lineOf } from '../../src/cli/import/exported.ts'
import { Report } from '../../src/cli/import/report.ts'
import type { Io } from '../../src/cli/io.ts'
import { firstMessage } from '../../src/delivery/desktop/dbus/message.ts'
import { runHook } from '../../src/door/mcp/hook.ts'
import { RpcError, readMessage } from '../../src/door/mcp/rpc.ts'
import { Damaged, Taken } from '../../src/install/edit/damaged.ts'
import { dropHooks, putHooks } from '../../src/install/edit/hooks.ts'
import { JsonText } from '../../src/install/edit/json.ts'
import { dropTomlServer, putTomlServer } from '../../src/install/edit/toml-server.ts'
import { envelopesOf, isAck, isFrame } from '../../src/link/mail/envelope.ts'
import { HomeserverError, isJson } from '../../src/link/matrix/homeserver.ts'
import { readSync } from '../../src/link/matrix/sync-answer.ts'
import { readToken } from '../../src/link/peers.ts'
import { splitSealed, unseal } from '../../src/link/vault/sealed.ts'
import { matchExpression } from '../../src/store/reads/search.ts'
import { filledFrom, parseEnvFile, refusedIn } from '../../src/wake/detect/env-file.ts'
import { formatAddress, parseAddress } from '../../src/wire/address.ts'
import { Refusal } from '../../src/wire/refusal.ts'
import { law } from './fuzz.ts'

export type Target = {
  /** The kind of its end, in a word. */
  run(input: Buffer): unknown
  /** Is that how it says no? */
  refuses(error: Error): boolean
  seeds: readonly (string | Uint8Array)[]
  /** Change it as JSON, too. */
  json?: true
}

const never = () => false
const byRefusal = (error: Error) => error instanceof Refusal
const parsed = (input: Buffer): unknown => JSON.parse(input.toString())
const orNoJson = (refuses: (error: Error) => boolean) => (error: Error) =>
  error instanceof SyntaxError || refuses(error)
/** A buffer of the size that the system call is given, whatever it wrote there. */
const sized = (input: Buffer, size: number): Uint8Array => {
  const whole = new Uint8Array(size)
  whole.set(input.subarray(0, size))
  return whole
}

const STAT = `7 (a) R 1) S 1 7 7 34816 7 4194304 1 2 3 4 5 6 7 8 20 0 1 0 5678 ${Array.from({ length: 30 }, (_, i) => 1000 + i).join(' ')}\n`
const END = { address: Uint8Array.of(127, 0, 0, 1), port: 18301 }
const OTHER = { address: Uint8Array.of(127, 0, 0, 1), port: 40000 }
const row = Buffer.alloc(200)
row.writeUInt32LE(1, 0)
row.writeUInt16BE(18301, 12)
row.writeUInt16BE(40000, 20)
const LETTER = {
  type: 'message',
  message_id: 'm4a_000000000001abcdefabcdef',
  thread: 'm4a_000000000001abcdefabcdef',
  from: { kind: 'session', participant: 'ann', session: 's-0123456789abcdef0123456789abcdef' },
  from_text: 'ann/s-0123456789abcdef0123456789abcdef',
  subject: 's',
  body: 'b',
  reply_to: null,
  correlation: null,
  refs: [{ kind: 'k', locator: 'l' }],
  hop: 0,
  created_at: '2026-12-01T00:00:00.000Z',
  created_at_unix_ms: 1796083200000,
  deliveries: [
    {
      to_text: 'bob',
      participant: 'bob',
      state: 'closed',
      closed_at: '2026-12-01T00:00:01.000Z',
      close_reason: 'acknowledged',
    },
  ],
}
const SYNC = {
  next_batch: 's1',
  to_device: { events: [{ type: 'm.room.encrypted', sender: '@a:b', content: {} }] },
  device_lists: { changed: ['@a:b'], left: [] },
  device_one_time_keys_count: { signed_curve25519: 50 },
  rooms: {
    join: {
      '!r:b': {
        state: { events: [] },
        timeline: {
          limited: true,
          prev_batch: 'p',
          events: [{ type: 'm.room.message', sender: '@a:b', event_id: '$1', content: { body: 'x' } }],
        },
      },
    },
    invite: {
      '!i:b': {
        invite_state: { events: [{ type: 'm.room.member', state_key: '@us:b', sender: '@a:b', content: {} }] },
      },
    },
    leave: { '!l:b': {} },
  },
}
const HOOKS = {
  hooks: {
    Stop: [
      { hooks: [{ type: 'command', command: 'mine' }] },
      { matcher: 'x', hooks: [{ type: 'command', command: 'other' }] },
    ],
  },
}
const form = { grouped: true, isOurs: (handler: object) => 'command' in handler && handler.command === 'mine' }
const server = {
  name: 'mail4agent',
  command: '/bin/m4a',
  args: ['mcp'],
  isOurs: (words: readonly string[]) => words[0] === '/bin/m4a',
}

const home = mkdtempSync(join(tmpdir(), 'm4a-fuzz-'))
const io = { env: {}, home, platform: 'linux' } as unknown as Io // what the reader of the configuration asks for
const config = configPath(io)
mkdirSync(dirname(config), { recursive: true })
export const leftovers = home

const index = new Database(':memory:')
index.run("CREATE VIRTUAL TABLE letter USING fts5(subject, body, who, content='', contentless_delete=1)")
const search = index.query('SELECT rowid FROM letter WHERE letter MATCH ?')

const quiet = { perform: async () => ({}) }

export const TARGETS: Readonly<Record<string, Target>> = {
  'linux-stat': {
    run(input) {
      const line = input.toString('latin1')
      const whole = parseStat(input, input.length)
      const rest = line
        .slice(line.lastIndexOf(')') + 2)
        .trimEnd()
        .split(' ')
      // where the kernel could have written it, the name has any bytes and the fields are what split() finds
      if (
        whole &&
        /^\d+ \([\s\S]*\) [A-Z] \d{1,15} -?\d{1,15} \d{1,15}( -?\d{1,15}){15} \d{1,15}( -?\d{1,15}){30}\n$/.test(line)
      ) {
        law(
          stat.ppid === Number(rest[1]) && stat.sid === Number(rest[3]) && stat.start === Number(rest[19]),
          'other numbers',
        )
        law(stat.state === line.charCodeAt(line.lastIndexOf(')') + 2), 'another state')
      }
      return whole
    },
    refuses: never,
    seeds: [STAT, '1 (init) S 0 1'],
  },
  'linux-limits': {
    run: (input) => (softLimit(input.toString()) >= 0 ? 'number' : law(false, 'no limit')),
    refuses: never,
    seeds: [
      'Max open files            1024                 524288               files     \n',
      'Max open files unlimited unlimited files',
    ],
  },
  'windows-tcp': {
    run(input) {
      const found = [SHAPES.pid.v4, SHAPES.pid.v6, SHAPES.module.v4, SHAPES.module.v6].map((shape) =>
        findRow(input, shape, END, OTHER),
      )
      for (const one of found) law(one === null || (one.pid >= 0 && one.created >= 0n), 'an odd row')
      return found.map((one) => one !== null)
    },
    refuses: never,
    seeds: [row, Buffer.alloc(4)],
  },
  'windows-command-line': {
    run(input) {
      const text = input.toString()
      const words = splitCommandLine(text)
      law(words.join('').length <= text.length, 'more than there was')
      return Math.min(4, words.length)
    },
    refuses: never,
    seeds: ['"C:\\a b\\m4a.exe" serve "x\\"y" \\\\ ""', 'a\\"b "c""d'],
  },
  'darwin-structs': {
    run(input) {
      darwin.socketInfo(sized(input, darwin.SIZE.socket))
      darwin.infoOf(sized(input, darwin.SIZE.info))
      darwin.shortInfoOf(sized(input, darwin.SIZE.shortInfo))
      darwin.uniqueOf(sized(input, darwin.SIZE.unique))
      darwin.currentFolder(sized(input, darwin.SIZE.folders))
      return Math.min(3, darwin.socketsAmong(input.subarray(0, input.length - (input.length % darwin.SIZE.fd))).length)
    },
    refuses: never,
    seeds: [Buffer.alloc(792, 1), Buffer.alloc(2352)],
  },
  'darwin-pcb-list': {
    run: (input) => hintFor(input, END, OTHER) !== null,
    refuses: never,
    seeds: [
      Buffer.concat([
        Buffer.from([24, 0, 0, 0]),
        Buffer.alloc(20),
        Buffer.from([104, 0, 0, 0, 16, 0, 0, 0]),
        Buffer.alloc(96),
      ]),
    ],
  },
  'darwin-arguments': {
    run(input) {
      const started = startedWith(input)
      if (started === null) return 'none'
      law(started.argv.length + started.environment.length <= input.length + 1, 'more than there was')
      variables(started.environment, ['HOME'])
      return Math.min(3, started.argv.length)
    },
    refuses: never,
    seeds: [Buffer.from('\x02\0\0\0/bin/a\0\0\0a\0b\0HOME=/x\0HOME=/y\0\0', 'latin1')],
  },
  'dbus-message': {
    run: (input) => firstMessage(input) !== null,
    refuses: (error) => error.constructor === Error,
    seeds: [
      Buffer.from(
        '6c02000104000000020000002000000005017500010000000601730003000000' + '3a2e310008016700017500002a000000',
        'hex',
      ),
    ],
  },
  'json-rpc': {
    run: (input) => readMessage(parsed(input)).kind,
    refuses: orNoJson((error) => error instanceof RpcError),
    seeds: [
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{}}}',
      '[]',
      '{"jsonrpc":"2.0","method":"n"}',
    ],
    json: true,
  },
  'hook-input': {
    run: async (input) =>
      (await runHook(parsed(input), {}, { capSeconds: 1, signal: new AbortController().signal }, quiet)).content.length,
    refuses: orNoJson(never),
    seeds: ['claude', 'codex', 'gemini', 'copilot', 'cursor', 'qwen', 'grok', 'kimi', 'opencode'].map(
      (client) =>
        `{"client":"${client}","event":"SessionStart","hook_event_name":"Stop","session_id":"x","prompt":"p"}`,
    ),
    json: true,
  },
  'matrix-sync': {
    run(input) {
      const value = parsed(input)
      if (!isJson(value)) return 'no object'
      const answer = readSync(value, '@us:b')
      for (const room of answer.joined)
        for (const event of [...room.state, ...room.timeline])
          law(typeof event.sender === 'string' && event.content !== null, 'an odd event')
      for (const { sender } of answer.invited) law(typeof sender === 'string', 'an odd inviter')
      return [answer.joined.length > 0, answer.invited.length > 0, answer.toDevice.length > 0]
    },
    refuses: orNoJson((error) => error instanceof HomeserverError),
    seeds: [JSON.stringify(SYNC)],
    json: true,
  },
  'link-envelope': {
    run(input) {
      const { known, odd } = envelopesOf(input.toString('latin1'))
      isFrame({ data: input.toString() })
      isAck({ data: input.toString() })
      return [known.length > 0, odd > 0]
    },
    refuses: never,
    seeds: ['', Buffer.from('{"v":1,"kind":"mail"}').toString('base64'), '[{"v":1}]', '{"v":1}\n{"v":1}'],
  },
  'pairing-line': {
    run: (input) => readToken(input.toString()).user.length > 0,
    refuses: byRefusal,
    seeds: [`m4a1:${Buffer.from(JSON.stringify(['@a:b', 'A'.repeat(43)])).toString('base64url')}`],
  },
  vault: {
    run(input) {
      const file = splitSealed(input.toString(), (value): value is { v: number } => 'v' in value)
      unseal(file, new Uint8Array(32))
      return law(false, 'opened without its key')
    },
    refuses: byRefusal,
    seeds: ['{"v":1,"nonce":"AAAAAAAAAAAAAAAA","sealed":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}'],
    json: true,
  },
  'env-file': {
    run(input) {
      const found = parseEnvFile(input.toString())
      law(!found.has(''), 'a variable without a name')
      return [found.size > 0, refusedIn(filledFrom({}, found)) === null]
    },
    refuses: never,
    seeds: ['A=1\nexport B="x y"\n# c\nC=\'z\'\n', 'NODE_OPTIONS=--require x'],
  },
  config: {
    run(input) {
      writeFileSync(config, input)
      const settings = settingsFor(io)
      law(settings.keep.closedDays === null || settings.keep.closedDays >= 30, 'kept too short')
      law(typeof settings.allowForwarders === 'boolean', 'an odd switch')
      return settings.recognised.length > 0
    },
    refuses: byRefusal,
    seeds: [
      'recognised_agents = ["claude"]\nallow_forwarders = true\n[keep]\nclosed_days = 90\nevents_days = "forever"\n',
      'homeserver_url = "https://x"',
    ],
  },
  'import-line': {
    run(input) {
      const line = lineOf(input.toString())
      if (line.type !== 'message') return line.type
      const letter = importOf(line)
      for (const copy of letter.deliveries)
        for (const time of [copy.closed_at_unix_ms, copy.opened_at_unix_ms])
          law(time == null || Number.isFinite(time), 'a time that is none')
      return letter.deliveries.length
    },
    refuses: orNoJson((error) => error instanceof Refusal || error.constructor === Error),
    seeds: [
      JSON.stringify(LETTER),
      '{"type":"header","format":"mail4agent-export","version":1}',
      '{"type":"room","id":"r","label":null,"members":["a"]}',
    ],
    json: true,
  },
  'import-aipass': {
    run(input) {
      const mail = (['inbox', 'deleted', 'sent'] as const).map((place) =>
        mailOf(parsed(input), place, 'owner', __filename, 'at', new Report('x', true)),
      )
      for (const one of mail) law(one === null || (Number.isFinite(one.created) && one.from !== ''), 'an odd letter')
      return mail.map((one) => one === null)
    },
    refuses: orNoJson(never),
    seeds: [
      '{"id":"1","from":"@a","to":["@b"],"subject":"s","message":"m","timestamp":"2025-01-01T10:00:00","read":false,"status":"opened"}',
      '{"message":"m","from_name":"x","archived_at":"2025-01-01 10:00:00","updates":3}',
    ],
    json: true,
  },
  'client-json': {
    run(input) {
      const before = new JsonText(input.toString())
      const after = new JsonText(before.text)
      putHooks(after, { Stop: { type: 'command', command: 'mine' } }, form)
      putHooks(after, { Stop: { type: 'command', command: 'mine' } }, form)
      const again = new JsonText(after.text)
      dropHooks(again, form)
      dropHooks(before, form)
      law(
        again.text.replaceAll(/\s/g, '').length >= before.text.replaceAll(/\s/g, '').length - 20,
        'something else was taken out',
      )
      return again.text === before.text
    },
    refuses: (error) => error instanceof Damaged || error instanceof Taken,
    seeds: [JSON.stringify(HOOKS), '', '{\n  // c\n  "hooks": {},\n}', '\ufeff{"a":[1,2,]}'],
    json: true,
  },
  'client-toml': {
    run(input) {
      const before = input.toString()
      const after = putTomlServer(before, server)
      law(putTomlServer(after, server) === after, 'put twice is another text')
      const without = dropTomlServer(after, server)
      law(dropTomlServer(without, server) === without, 'dropped twice is another text')
      return without === before
    },
    refuses: (error) => error instanceof Damaged || error instanceof Taken,
    seeds: [
      '',
      'model = "o"\n[mcp_servers.x]\ncommand = "y"\n',
      '[mcp_servers.mail4agent]\ncommand = "/bin/m4a"\nargs = ["old"]\nextra = 1\n[mcp_servers.mail4agent.tools.a]\nb = 1\n',
      'a = """\n[mcp_servers.mail4agent]\n"""\r\n',
    ],
  },
  'search-words': {
    run(input) {
      const expression = matchExpression(input.toString())
      if (expression !== null) search.all(expression)
      return expression === null
    },
    refuses: never,
    seeds: ['hello "two words" pre*', 'NEAR(a b) AND NOT c:d ^e {x y}:z', '"" * -- \'; DROP'],
  },
  address: {
    run(input) {
      const text = input.toString()
      const address = parseAddress(text)
      law(
        formatAddress(parseAddress(formatAddress(address))) === formatAddress(address),
        'written and read it is another',
      )
      return [address.kind, address.machine === undefined]
    },
    refuses: byRefusal,
    seeds: ['ann', 'ann/s-7f3a', '#build@desk', 'ann@desk/s-0123456789abcdef0123456789abcdef'],
  },
}
