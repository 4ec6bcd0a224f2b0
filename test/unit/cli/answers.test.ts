// What each command asks, and what people read of the answer, letter by letter: in a pipe, on a terminal, as JSON.
import { describe, expect, test } from 'bun:test'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { prepareToken } from '../../../src/cli/token-files.ts'
import { malformed, Refusal } from '../../../src/wire/refusal.ts'
import { tempFolder } from '../../support/temp.ts'
import { type Canned, canned, ID, LETTERS, letter, now, refused, SESSION } from './canned.ts'
import { expectGolden } from './golden.ts'
import { type Ran, type Shell, sh } from './shell.ts'

process.env.TZ = 'UTC'

const page = { has_more: false, cursor: null, now }
const text = ({ code, out, err }: Ran) => `${out}--- stderr\n${err}--- exit ${code}\n`
const inbox = { messages: LETTERS, unread: 3, has_more: true, cursor: '0a1b2c3d.c', now }
const terminal = { outColumns: 100, errIsTerminal: true }
const receipt = {
  to: { kind: 'direct', participant: 'codex' },
  to_text: 'codex',
  state: 'closed',
  closed_at: '2026-11-30T11:59:00.000Z',
  closed_by: `codex/${SESSION}`,
  close_reason: 'replied',
}
const sendAnswer = {
  message_id: ID[0],
  thread: ID[0],
  from: { kind: 'session', participant: 'claude', session: SESSION },
  from_text: `claude/${SESSION}`,
  results: [{ to: { kind: 'direct', participant: 'codex' }, to_text: 'codex', ok: true, state: 'new' }],
  hop: 0,
  created_at: now,
  created_at_unix_ms: Date.parse(now),
  now,
}
const card = {
  attested: {
    pid: 4711,
    started_at_unix_ms: Date.parse(now) - 60_000,
    exe: '/usr/bin/claude',
    uid: 1000,
    spawned_by: null,
  },
  corroborated: {
    provider: 'claude',
    provider_session_id: null,
    conversation: null,
    model: 'opus',
    cwd: '/src',
    sources: { provider: 'argv', model: 'argv', cwd: 'proc' },
  },
  declared: { working_on: 'the store', role: null, parent: null },
}
const LINK = { url: `http://127.0.0.1:18301/ui#login=${'0a'.repeat(32)}`, expires_at: now }
const OFF = { state: 'off', note: null }
const OVERVIEW = {
  accounts: [
    {
      id: 'claude',
      label: 'Claude',
      kind: 'agent',
      live_sessions: 2,
      last_seen: now,
      unread: 3,
      oldest_unread_age_secs: 70,
      session_unread: 1,
      waiting: 1,
      doorbell: { pending: 2, last_ok: null, last_error: 'refused\u001b[2J', last_error_at: now },
    },
    {
      id: 'operator',
      label: null,
      kind: 'person',
      live_sessions: 0,
      last_seen: null,
      unread: 0,
      oldest_unread_age_secs: null,
      session_unread: 0,
      waiting: 0,
      doorbell: null,
    },
  ],
  has_more: false,
  after: 'operator',
  rooms: 1,
  orphaned_sessions: 1,
  parts: { wake: OFF, dispatch: { state: 'on', note: '2 run' }, link: OFF },
  now,
}
const whoami = {
  address: sendAnswer.from,
  address_text: sendAnswer.from_text,
  account: 'claude',
  label: 'Claude',
  capabilities: ['send', 'read'],
  rooms: ['build'],
  card,
  unread: 3,
  now,
}
const seen = (pid: number, facts: object) => ({
  pid,
  started_at_unix_ms: Date.parse(now) - pid * 1_000,
  exe: null,
  uid: 1000,
  agent: null,
  session: null,
  ...facts,
})
const agent = seen(4711, { exe: '/usr/bin/claude', agent: 'claude (exe)', session: `claude/${SESSION}` })
const explain = {
  connection: { over: 'tcp', name: '40000/1f', proof: 'all processes were searched, and one alone holds it' },
  process: seen(12, { exe: '/usr/bin/mail4agent' }),
  ancestors: [seen(11, { exe: '/usr/bin/bash' }), agent, seen(1, { uid: 0, started_at_unix_ms: 0 })],
  forwarder: null,
  anchor: { rule: 'agent_above', because: 'it is the nearest agent client above', process: agent },
  account: { id: 'claude', token: 'its digest is the one of this account' },
  session: {
    id: SESSION,
    made_of: [
      { name: 'boot', value: 'b007' },
      { name: 'pid', value: '4711' },
      { name: 'pidfd', value: null },
    ],
    conversation: 'none',
  },
  facts: [{ name: 'model', value: 'opus', source: 'argv' }],
}
const entry = {
  id: SESSION,
  address: `claude/${SESSION}`,
  card,
  last_seen: now,
  last_seen_unix_ms: Date.parse(now) - 5_000,
  live: true,
}
const directory = {
  participants: [
    {
      id: 'claude',
      label: 'Claude',
      kind: 'agent',
      sessions: [entry, { ...entry, address: 'claude/s-00ff', live: false }],
    },
    { id: 'lukas', label: null, kind: 'person', sessions: [] },
  ],
  rooms: [
    { id: 'build', member: true, members: 2 },
    { id: 'ops', member: false, members: 1 },
  ],
  has_more: false,
  after: null,
  now,
}
const contacts = {
  accounts: [
    {
      id: 'codex',
      label: 'Codex\u001b[31m',
      kind: 'agent',
      live_sessions: [`codex/${SESSION}`],
      last_seen: now,
      sent: 12,
      heard: 3,
      last_written_at: '2026-11-30T11:55:00.000Z',
      last_heard_at: '2026-11-28T12:00:00.000Z',
    },
    {
      id: 'lukas',
      label: null,
      kind: 'person',
      private: true,
      live_sessions: [],
      last_seen: null,
      sent: 0,
      heard: 0,
      last_written_at: null,
      last_heard_at: null,
    },
  ],
  rooms: [
    { id: 'build', label: 'red or green', member: true },
    { id: 'ops', label: null, member: false },
  ],
  aliases: [{ name: 'lead', address: 'codex/s-7f3a91c0' }],
  machines: [],
  has_more: false,
  after: null,
  now,
}
const rooms = [
  { id: 'build', label: 'red or green', member: true, members: ['claude', 'codex'], created_at: now },
  { id: 'ops', label: null, member: false, created_at: now },
]
const stats = {
  target: 'claude',
  states: { new: 2, opened: 1, closed: 40 },
  unread: 3,
  oldest_unread_age_secs: 700,
  since: '2026-11-24T00:00:00.000Z',
  peers: [
    { id: 'codex', sent: 12, heard: 3 },
    { id: 'lukas', sent: 0, heard: 1 },
  ],
  days: [
    { day: '2026-11-29', sent: 2, heard: 0 },
    { day: '2026-11-30', sent: 10, heard: 4 },
  ],
  now,
}
const health = {
  ok: true,
  service: 'mail4agent',
  version: '1.2.3',
  started_at: '2026-11-30T11:00:00Z',
  uptime_secs: 3_600,
  attestation: { ok: true },
  listening: ['127.0.0.1:18301', '[::1]:18301'],
  unavailable: [],
}

/** A command that stands for itself: its session is this very process. */
const oneShot = { ...whoami, card: { ...card, attested: { ...card.attested, pid: process.pid } } }
const refusal = (what: Refusal): Response => refused(what.status, what.toJSON())

const CASES: [golden: string, argv: string[], answers: Record<string, unknown>, shell?: object][] = [
  ['inbox', ['inbox', '-n', '3'], { '/mail/inbox': inbox }],
  ['inbox-terminal', ['inbox', '-n', '3'], { '/mail/inbox': inbox }, terminal],
  ['inbox-full', ['inbox', '--full'], { '/mail/inbox': inbox }],
  ['inbox-json', ['inbox', '--json'], { '/mail/inbox': inbox }],
  [
    'inbox-empty',
    ['inbox'],
    { '/mail/inbox': { ...page, messages: [], unread: 0, orphaned: { count: 2, letters: [] } } },
  ],
  ['view', ['view', ID[1]], { '/mail/get': LETTERS[1] }],
  ['view-terminal', ['view', ID[1]], { '/mail/get': LETTERS[1] }, terminal],
  ['send', ['send', 'codex', 'hello'], { '/mail/send': sendAnswer }],
  [
    'send-some-refused',
    ['send', 'codex,ghost', 'hello'],
    {
      '/mail/send': {
        ...sendAnswer,
        results: [
          { ...sendAnswer.results[0], warning: 'the account has no live session' },
          {
            to: { kind: 'direct', participant: 'ghost' },
            to_text: 'ghost',
            ok: false,
            refusal: { kind: 'unknown_participant', message: 'no account ghost', hint: 'list them' },
          },
        ],
      },
    },
  ],
  [
    'reply-redirected',
    ['reply', ID[0], 'done'],
    {
      '/mail/send': {
        ...sendAnswer,
        closed: ID[1],
        results: [{ ...sendAnswer.results[0], warning: 'the session that wrote has ended; sent to its account' }],
      },
    },
  ],
  ['reply', ['reply', ID[0], 'done'], { '/mail/send': { ...sendAnswer, closed: ID[1] } }],
  [
    'sent',
    ['sent'],
    {
      '/mail/sent': {
        ...page,
        messages: [
          {
            ...letter(0, 90),
            deliveries: [receipt, { ...receipt, to_text: 'claude/s-00ff', state: 'new', session_ended: true }],
          },
        ],
      },
    },
  ],
  [
    'sent-terminal',
    ['sent'],
    {
      '/mail/sent': {
        ...page,
        messages: [
          {
            ...letter(0, 90),
            deliveries: [receipt, { ...receipt, to_text: 'claude/s-00ff', state: 'new', session_ended: true }],
          },
        ],
      },
    },
    terminal,
  ],
  [
    'receipts',
    ['receipts', ID[0]],
    {
      '/mail/receipts': {
        ...page,
        receipts: [{ message_id: ID[0], subject: 'review', created_at: now, deliveries: [receipt] }],
      },
    },
  ],
  [
    'receipts-terminal',
    ['receipts'],
    {
      '/mail/receipts': {
        ...page,
        receipts: [
          { message_id: ID[0], subject: 'review', created_at: now, deliveries: [receipt] },
          {
            message_id: ID[1],
            subject: 'a long subject that has no room\u001b[2J',
            created_at: now,
            deliveries: [
              { to: receipt.to, to_text: `codex/${SESSION}`, state: 'new', notified_at: LETTERS[1]?.notified_at },
              { ...receipt, to_text: '#build', participant: 'codex', close_reason: 'acknowledged' },
            ],
          },
        ],
      },
    },
    { ...terminal, outColumns: 80 },
  ],
  ['thread', ['thread', ID[0]], { '/mail/thread': { ...page, messages: LETTERS } }],
  ['search', ['search', 'store', 'review'], { '/mail/search': { ...page, messages: [LETTERS[0]] } }],
  ['unread', ['unread'], { '/mail/unread': { target: sendAnswer.from, unread: 3, oldest_age_secs: 70, now } }],
  ['ui', ['ui', '--for', '1h'], { '/ui/link': LINK }],
  ['ui-logout', ['ui', '--logout'], { '/ui/logout': { ended: 2 } }],
  ['top', ['top'], { '/admin/overview': OVERVIEW }],
  ['top-json', ['top', '--json'], { '/admin/overview': OVERVIEW }],
  [
    'ping',
    ['ping', 'codex'],
    {
      '/mail/ping': {
        target: { kind: 'direct', participant: 'codex' },
        target_text: 'codex',
        live_sessions: 1,
        last_seen: now,
        unread: 2,
        oldest_unread_age_secs: 700,
        waiting: 1,
        now,
      },
    },
  ],
  ['contacts', ['contacts'], { '/mail/contacts': contacts }],
  ['contacts-terminal', ['contacts'], { '/mail/contacts': contacts }, terminal],
  ['contacts-json', ['contacts', '--json'], { '/mail/contacts': contacts }],
  [
    'contacts-alias-add',
    ['contacts', 'alias', 'add', '@Lead', 'codex/s-7f3a'],
    { '/mail/alias': { aliases: [{ name: 'Lead', address: 'codex/s-7f3a' }], now } },
  ],
  ['contacts-alias-remove', ['contacts', 'alias', 'remove', 'lead'], { '/mail/alias': { aliases: [], now } }],
  ['rooms', ['rooms'], { '/mail/rooms': { rooms, now } }],
  ['rooms-terminal', ['rooms'], { '/mail/rooms': { rooms, now } }, terminal],
  ['rooms-show', ['rooms', 'show', '#build'], { '/mail/rooms': { rooms: rooms.slice(0, 1), now } }],
  ['rooms-show-other', ['rooms', 'show', 'ops'], { '/mail/rooms': { rooms: rooms.slice(1), now } }],
  ['rooms-members', ['rooms', 'members', 'build'], { '/mail/rooms': { rooms: rooms.slice(0, 1), now } }],
  ['rooms-members-other', ['rooms', 'members', 'ops'], { '/mail/rooms': { rooms: rooms.slice(1), now } }],
  ['rooms-leave', ['rooms', 'leave', 'build'], { '/mail/leave': { room: 'build', member: false, now } }],
  ['rooms-join', ['rooms', 'join', 'build'], { '/mail/join': { room: 'build', member: true, now } }],
  ['stats', ['stats'], { '/mail/stats': stats }],
  ['stats-terminal', ['stats', 'codex', '--days', '2'], { '/mail/stats': { ...stats, at_least: true } }, terminal],
  ['whoami', ['whoami'], { '/mail/whoami': whoami }],
  ['whoami-explain', ['whoami', '--explain'], { '/mail/whoami': { ...whoami, explain } }],
  ['peers', ['peers'], { '/mail/directory': directory }],
  ['peers-all-terminal', ['peers', '--all'], { '/mail/directory': directory }, terminal],
  ['status', ['status'], { '/health': health, '/mail/whoami': whoami }],
  [
    'status-not-well',
    ['status'],
    {
      '/health': { ...health, ok: false, attestation: { ok: false, reason: 'no sock_diag' } },
      '/mail/whoami': refused(403, {
        kind: 'attestation_down',
        message: 'callers cannot be proved',
        hint: 'see the log',
      }),
    },
  ],
  [
    'whoami-refused',
    ['whoami'],
    {
      '/mail/whoami': refused(403, {
        kind: 'shared_connection',
        message: 'more than one process holds the connection',
        hint: 'open one of your own',
        seen: { inode: 7, holders: '11,12' },
      }),
    },
  ],
  ['status-set', ['status', 'set', '--working-on', 'the store'], { '/mail/status': { card, now } }],
  [
    'ack',
    ['ack', ID[0], ID[1]],
    {
      '/mail/ack': {
        results: [
          { message_id: ID[0], ok: true },
          { message_id: ID[1], ok: false, refusal: { kind: 'claimed', message: 'a sibling has it', hint: 'wait' } },
        ],
        unread: 1,
        now,
      },
    },
  ],
  [
    'claim',
    ['claim', ID[0]],
    {
      '/mail/claim': {
        results: [{ message_id: ID[0], ok: true }],
        claimed_until: '2026-11-30T12:10:00.000Z',
        unread: 1,
        now,
      },
    },
  ],
  [
    'claim-one-shot',
    ['claim', ID[0]],
    {
      '/mail/whoami': oneShot,
      '/mail/claim': { results: [{ message_id: ID[0], ok: true }], claimed_until: null, unread: 1, now },
    },
  ],
  [
    'ack-claimed',
    ['ack', ID[0]],
    {
      '/mail/ack': {
        results: [
          {
            message_id: ID[0],
            ok: false,
            refusal: {
              kind: 'claimed',
              message: `a sibling session has claimed ${ID[0]}`,
              hint: 'a sibling session is working on it until the time shown',
              claimed_by: `codex/${SESSION}`,
              claimed_until: '2026-11-30T12:10:00.000Z',
            },
          },
        ],
        unread: 1,
        now,
      },
    },
  ],
  [
    'reply-claimed',
    ['reply', ID[0], 'mine'],
    {
      '/mail/send': refused(409, {
        kind: 'claimed',
        message: `a sibling session has claimed ${ID[0]}`,
        hint: 'a sibling session is working on it until the time shown',
        claimed_by: `codex/${SESSION}`,
        claimed_until: '2026-11-30T12:10:00.000Z',
      }),
    },
  ],
  [
    'view-unknown',
    ['view', ID[0]],
    { '/mail/get': refusal(new Refusal('unknown_message', `no message ${ID[0]}`, { message_id: ID[0] })) },
  ],
  ['view-malformed', ['view', '42'], { '/mail/get': refusal(malformed('message_id', 'is no id')) }],
  ['unauthenticated', ['inbox'], { '/mail/inbox': refusal(new Refusal('unauthenticated', 'unknown token')) }],
  [
    'listener-set',
    ['admin', 'listener', 'set', 'claude', 'http://127.0.0.1:9/x'],
    { '/admin/listener': { key: 'ab'.repeat(32) } },
  ],
  ['wait-one-shot', ['wait'], { '/mail/whoami': oneShot, '/mail/follow': inbox }],
  ['reopen', ['reopen', ID[0]], { '/mail/reopen': { results: [{ message_id: ID[0], ok: true }], unread: 1, now } }],
  ['wait', ['wait'], { '/mail/follow': inbox }],
  ['wait-one-json', ['wait', '--json'], { '/mail/follow': { ...page, messages: [LETTERS[0]], unread: 1 } }],
  [
    'account-list',
    ['admin', 'account', 'list'],
    {
      '/admin/participant/list': {
        accounts: [
          {
            id: 'claude',
            label: 'Claude',
            kind: 'agent',
            may_send: true,
            may_read: true,
            may_dispatch: false,
            may_behalf: false,
            operator: false,
            private: true,
            visible_to: [],
            rooms: ['build', 'ops'],
            listener: null,
            created_at: now,
          },
        ],
        has_more: false,
        after: null,
      },
    },
  ],
  [
    'room-list',
    ['admin', 'room', 'list'],
    {
      '/admin/room/list': {
        rooms: [{ id: 'build', label: null, members: ['claude', 'codex'], created_at: now }],
        has_more: false,
        after: null,
      },
    },
  ],
  [
    'listener-list',
    ['admin', 'listener', 'list'],
    {
      '/admin/listener/list': {
        listeners: [
          {
            account: 'claude',
            url: 'http://127.0.0.1:9/x',
            coalesce: false,
            pending: 2,
            last_ok: null,
            last_error: 'refused',
            last_error_at: now,
          },
        ],
      },
    },
  ],
  [
    'orphans-list',
    ['admin', 'orphans', 'list'],
    { '/admin/orphan/list': { orphans: [{ account: 'claude', session: SESSION, count: 2, oldest: ID[0] }] } },
  ],
  [
    'refused',
    ['send', 'codex/s-7f3a', 'hi'],
    {
      '/mail/send': refused(409, {
        kind: 'ambiguous_session',
        message: 'two sessions begin with s-7f3a',
        hint: 'use more digits',
        candidates: [`codex/${SESSION}`, 'codex/s-7f3a00\u001b'],
      }),
    },
  ],
  [
    'refused-terminal',
    ['send', 'ghost', 'hi'],
    { '/mail/send': refused(404, { kind: 'unknown_participant', message: 'no account ghost', hint: 'list accounts' }) },
    terminal,
  ],
  [
    'refused-json',
    ['send', 'ghost', 'hi', '--json'],
    {
      '/mail/send': refused(404, {
        kind: 'unknown_participant',
        message: 'no account ghost',
        hint: 'list accounts',
        participant: 'ghost',
      }),
    },
  ],
]

test.each(CASES)('%s', async (golden, argv, answers, shell = {}) => {
  using mailbox = canned(answers)
  await expectGolden(golden, text(await sh(argv, { ...mailbox.shell, ...shell })))
  for (const { path, authorization } of mailbox.asked)
    expect(authorization).toBe(path === '/health' ? null : 'Bearer secret-of-claude')
})

/** What the command asked of the mailbox, without what was left open. */
async function asked(argv: string[], stdin?: string): Promise<Record<string, unknown>> {
  using mailbox = canned({
    '/mail/send': sendAnswer,
    '/mail/get': LETTERS[0],
    '/mail/inbox': { ...page, messages: [LETTERS[0]], unread: 1 },
  })
  const { code, err } = await sh(argv, stdin === undefined ? mailbox.shell : { ...mailbox.shell, stdin })
  expect(err).not.toContain('refused')
  expect(code).toBe(0)
  const body = mailbox.asked.at(-1)?.body
  const said = Object.entries(body ?? {}).filter(
    ([, value]) => value !== null && value !== false && !(Array.isArray(value) && value.length === 0),
  )
  return Object.fromEntries(said)
}

describe('send asks for', () => {
  test.each([
    [['codex', 'hello\nmore'], { to: 'codex', subject: 'hello', body: 'hello\nmore' }],
    [['@codex', 'Subject', 'body'], { to: '@codex', subject: 'Subject', body: 'body' }],
    [
      ['codex, #build,claude/s-7f3a', '-s', 'x', 'body'],
      { to: ['codex', '#build', 'claude/s-7f3a'], subject: 'x', body: 'body' },
    ],
    [['codex', '--', '--force'], { to: 'codex', subject: '--force', body: '--force' }],
    [['codex', '-s', 'x', '\n \n'], { to: 'codex', subject: 'x', body: '\n \n' }],
    [['--reply-to', ID[1], 'yes'], { reply_to: ID[1], body: 'yes' }],
    [['--reply-to', ID[1], '--close', 'codex', 'yes'], { to: 'codex', reply_to: ID[1], close: true, body: 'yes' }],
    [
      ['codex', 'b', '--ref', 'file=src/a=b.ts', '--ref', 'blob:9f86=x'],
      {
        to: 'codex',
        subject: 'b',
        body: 'b',
        refs: [
          { kind: 'file', locator: 'src/a=b.ts' },
          { kind: 'blob', digest: '9f86', locator: 'x' },
        ],
      },
    ],
    [
      ['codex', 'b', '--key', 'k', '--upsert', 'u', '--correlation', 'c', '--on-behalf-of', 'w'],
      {
        to: 'codex',
        subject: 'b',
        body: 'b',
        idempotency_key: 'k',
        upsert_key: 'u',
        correlation: 'c',
        on_behalf_of: 'w',
      },
    ],
  ])('%p', async (argv, expected) => expect(await asked(['send', ...argv])).toEqual(expected))

  test('standard input, byte for byte', async () => {
    expect(await asked(['send', 'codex', '-s', 'x', '-'], ' a\r\n\n')).toEqual({
      to: 'codex',
      subject: 'x',
      body: ' a\r\n\n',
    })
  })

  test('a long first line becomes a short subject, whole characters', async () => {
    const { subject } = await asked(['send', 'codex', '工'.repeat(200)])
    expect(subject).toBe(`${'工'.repeat(33)}…`)
  })
})

test.each([
  [['send', 'codex'], 'the body is missing'],
  [['send', 'codex', ''], 'the body is empty'],
  [['reply', ID[0], ''], 'the body is empty'],
  [['send'], 'the recipient and the body are missing'],
  [['send', '--file', 'x'], 'the recipient is missing'],
  [['send', 'a', 'b', 'c', '-s', 'x'], 'the subject is given twice: as a word and with --subject'],
  [['send', 'a', 'b', '--close'], '--close needs --reply-to'],
  [['send', 'a', 'b', '--ref', 'x'], '--ref takes KIND=LOCATOR or KIND:DIGEST=LOCATOR'],
  [['inbox', '--state', 'read'], '--state takes one of open, new, opened, closed, all'],
  [['claim', ID[0], '--for', '1m', '--release'], 'either --for or --release'],
  [['ack'], 'no message is named'],
  [['view'], 'view: <id | latest> is missing'],
  [['admin', 'listener', 'set', 'claude'], 'admin listener set: <url> is missing'],
  [['claim', ID[0], '--for', '2h'], '--for is 2h, the limit is 1h'],
  [['ui', '--for', '30h'], '--for is 30h, the limit is 12h'],
  [['admin', 'account'], 'admin account needs to know what to do'],
  [['send', 'claude', ' '], 'the message is empty'],
  [['close', ID[0], '--from', 'claude'], 'options choose among all mail, so they go without ids'],
  [['close', '--state', 'closed'], '--state takes one of new, opened'],
  [['search'], 'search: neither words nor options are given'],
  [
    ['search', '--since', 'yesterday'],
    '--since takes a time such as 90s, 10m, 2h, 1d, 1w, 2026-11-30 or 2026-11-30T08:00Z',
  ],
  [['send', 'a', 'b', '--from', 'x', '--on-behalf-of', 'y'], '--from and --on-behalf-of say different things'],
  [['send', 'a', '--edit', '--file', 'x'], 'the body is given twice: with --edit and with --file'],
  [['reply', ID[0], 'b', '--edit'], 'the body is given twice: with --edit and otherwise'],
  [['admin', 'account', 'add', 'a/b'], '"a/b" is no name'],
  [['admin', 'account', 'set', 'claude'], 'nothing to change'],
  [['admin', 'account', 'set', 'claude', '--can', 'sned'], '--can: no capability "sned"'],
])('%p is usage', async (argv, message) => {
  using mailbox = canned({})
  const { code, out, err } = await sh(argv, mailbox.shell)
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toStartWith(`refused: ${message}\n`)
  expect(mailbox.asked).toEqual([])
})

test('reply closes unless it is told to keep', async () => {
  expect(await asked(['reply', ID[0], 'done'])).toEqual({ reply_to: ID[0], body: 'done', close: true })
  expect(await asked(['reply', ID[0], '--keep', '-s', 'x', 'done'])).toEqual({
    reply_to: ID[0],
    body: 'done',
    subject: 'x',
  })
})

test('a warning of several recipients is said once', async () => {
  const warned = (name: string) => ({ ...sendAnswer.results[0], to_text: name, warning: 'nobody reads there' })
  const results = [warned('a'), { ...sendAnswer.results[0], to_text: 'b' }, warned('c')]
  using mailbox = canned({ '/mail/send': { ...sendAnswer, results } })
  expect((await sh(['send', '@all', 'b'], mailbox.shell)).err).toBe('a, c: nobody reads there\n')
})

test('a table is filled from as many answers as it takes, and a cursor goes on with it', async () => {
  const part = (at: number, more: boolean) => ({
    ...page,
    messages: [LETTERS[at]],
    has_more: more,
    cursor: `0a1b2c3d.${at}`,
  })
  using mailbox = canned({ '/mail/search': [part(0, true), part(1, true), part(2, true)] })
  const { out, err } = await sh(['search', 'x', '-n', '2'], mailbox.shell)
  expect(out.trim().split('\n')).toHaveLength(3)
  expect(err).toBe('there is more: add --cursor 0a1b2c3d.1\n')
  expect(asksOf(mailbox, 'search')).toMatchObject([
    { limit: 2, brief: true },
    { limit: 1, brief: true, cursor: '0a1b2c3d.0' },
  ])
})

test('without a command --json lists them as JSON', async () => {
  const { code, err } = await sh(['--json'], {})
  expect([code, JSON.parse(err).length > 50]).toEqual([2, true])
})

test('a quote stands before the answer, what was quoted before once more', async () => {
  const { body } = await asked(['reply', ID[0], '--quote', 'agreed'])
  expect(body).toBe(`claude wrote on 2026-11-29 11:00:00 +00:00:\n> please look at it\n\nagreed`)
})

test('email is send, and --from says on whose behalf', async () => {
  expect(await asked(['email', '@codex', 'Subject', 'body', '--from', 'spawn'])).toEqual({
    to: '@codex',
    subject: 'Subject',
    body: 'body',
    on_behalf_of: 'spawn',
  })
})

test('search asks for what it is narrowed to', async () => {
  using mailbox = canned({ '/mail/search': { ...page, messages: [] } })
  const argv = ['search', '--from', 'codex', '--to', '#build', '--state', 'closed', '--box', 'received']
  await sh([...argv, '--since', '1d', '--until', '2026-11-30T10:00Z', '--thread', ID[0]], mailbox.shell)
  expect(mailbox.asked.at(-1)?.body).toEqual({
    written_by: 'codex',
    to: '#build',
    state: 'closed',
    box: 'received',
    since_unix_ms: Date.parse(now) - 86_400_000,
    until_unix_ms: Date.parse('2026-11-30T10:00Z'),
    thread: ID[0],
    limit: null,
    cursor: null,
    brief: true,
  })
})

test('view latest reads the last one listed, without a cursor', async () => {
  using mailbox = canned({
    '/mail/inbox': [
      { ...page, messages: [], unread: 2 },
      { ...page, messages: LETTERS.slice(0, 2), unread: 3, has_more: true, cursor: '0a1b2c3d.b' },
      { ...page, messages: LETTERS.slice(1), unread: 3 },
    ],
    '/mail/get': LETTERS[2],
  })
  expect((await sh(['view', 'latest', '--peek'], mailbox.shell)).code).toBe(0)
  const bodies = mailbox.asked.map(({ body }) => body)
  expect(bodies.at(-1)).toEqual({ message_id: ID[2], peek: true })
  for (const body of bodies.slice(0, -1)) expect(body).not.toHaveProperty('cursor')
})

test('latest is taken wherever an id is', async () => {
  const mail = { '/mail/inbox': { ...page, messages: LETTERS.slice(0, 2), unread: 2 } }
  const settled = { results: [{ message_id: ID[1], ok: true }], unread: 1, now }
  const cases: [string[], string, object, object][] = [
    [['reply', 'latest', 'done'], '/mail/send', sendAnswer, { reply_to: ID[1], body: 'done', close: true }],
    [['send', '--reply-to', 'latest', 'done'], '/mail/send', sendAnswer, { reply_to: ID[1], body: 'done' }],
    [['thread', 'latest'], '/mail/thread', { ...page, messages: [] }, { message_id: ID[1] }],
    [['ack', 'latest'], '/mail/ack', settled, { message_ids: [ID[1]] }],
    [['ack', ID[0], 'latest', ID[1]], '/mail/ack', settled, { message_ids: [ID[0], ID[1]] }],
    [['claim', 'latest'], '/mail/claim', { ...settled, claimed_until: null }, { message_ids: [ID[1]] }],
  ]
  for (const [argv, path, answer, request] of cases) {
    using mailbox = canned({ ...mail, [path]: answer })
    const { code, err } = await sh(argv, mailbox.shell)
    expect([argv, code, err.includes('refused')]).toEqual([argv, 0, false])
    expect(mailbox.asked.at(-1)).toMatchObject({ path, body: request })
  }
})

test('receipts latest is about what was sent last', async () => {
  const receipts = { ...page, receipts: [] }
  using mailbox = canned({
    '/mail/sent': { ...page, messages: [{ ...LETTERS[2], deliveries: [] }] },
    '/mail/receipts': receipts,
  })
  expect((await sh(['receipts', 'latest'], mailbox.shell)).code).toBe(0)
  expect(mailbox.asked.map(({ path, body }) => [path, body])).toMatchObject([
    ['/mail/sent', { limit: 1 }],
    ['/mail/receipts', { message_id: ID[2] }],
  ])
  using nothing = canned({ '/mail/sent': { ...page, messages: [] }, '/mail/receipts': receipts })
  expect(await sh(['receipts', 'latest'], nothing.shell)).toMatchObject({ code: 1, out: '' })
})

test('the body alone is exact in a pipe, and safe on a terminal', async () => {
  using mailbox = canned({ '/mail/get': LETTERS[1] })
  expect((await sh(['view', ID[1], '--body'], mailbox.shell)).out).toBe(LETTERS[1]?.body ?? '')
  expect((await sh(['view', ID[1], '--body'], { ...mailbox.shell, ...terminal })).out).not.toContain('\u001b[2J')
})

const closeAll = { closed: 2, unlisted: 1, up_to: '0a1b2c3d.c', has_more: false, cursor: null, unread: 1, now }
const closed = LETTERS.slice(0, 2).map(({ message_id }) => ({ message_id, ok: true }))

test('ack all closes what was listed before, and lists what was not', async () => {
  using mailbox = canned({
    '/mail/whoami': whoami,
    '/mail/close_all': [
      { ...closeAll, closed: 1, results: closed.slice(0, 1), unlisted: 0, has_more: true, cursor: '0a1b2c3d.b' },
      { ...closeAll, closed: 1, results: closed.slice(1) },
    ],
    '/mail/inbox': { ...inbox, messages: [LETTERS[2]], has_more: false },
  })
  await expectGolden('ack-all', text(await sh(['ack', 'all'], mailbox.shell)))
  expect(mailbox.asked.filter(({ path }) => path === '/mail/close_all').map(({ body }) => body)).toEqual([
    { listed: 'session' },
    { listed: 'session', up_to: '0a1b2c3d.c', cursor: '0a1b2c3d.b' },
  ])
})

test('outside of a session what any session of the account was listed counts', async () => {
  using mailbox = canned({ '/mail/whoami': oneShot, '/mail/close_all': { ...closeAll, results: closed, unlisted: 0 } })
  expect(await sh(['close', 'all', '--from', 'claude'], mailbox.shell)).toEqual({ code: 0, out: 'closed 2\n', err: '' })
  expect(mailbox.asked.at(-1)?.body).toEqual({ written_by: 'claude', listed: 'account' })
})

test('close by a filter, and a dry run of it', async () => {
  const filter = ['--subject', 'review', '--older-than', '2h', '--state', 'opened', '--thread', ID[0]]
  using mailbox = canned({
    '/mail/close_all': { ...closeAll, closed: 0, results: [], unlisted: 0, messages: LETTERS.slice(0, 2) },
  })
  await expectGolden('close-dry-run', text(await sh(['close', ...filter, '--dry-run'], mailbox.shell)))
  expect(mailbox.asked.map(({ body }) => body)).toEqual([
    { subject: 'review', older_than_secs: 7_200, state: 'opened', thread: ID[0], dry_run: true },
  ])
})

test('wait asks again when the door has held it for its longest', async () => {
  using mailbox = canned({
    '/mail/follow': [
      { ...page, cursor: '0a1b2c3d.a', messages: [], unread: 0, waited_secs: 0 },
      { ...page, cursor: '0a1b2c3d.c', messages: [LETTERS[0]], unread: 1 },
      { ...page, cursor: '0a1b2c3d.c', messages: [], unread: 1 },
    ],
  })
  expect(await sh(['wait', '--timeout', '1h'], mailbox.shell)).toMatchObject({ code: 0, err: '' })
  expect(asksOf(mailbox, 'follow')).toEqual([
    { limit: 3, wait_secs: 60 },
    { limit: 3, wait_secs: 60 },
    { limit: 1, cursor: '0a1b2c3d.c' },
  ])
})

test('wait for an answer, a sender, a thread', async () => {
  using mailbox = canned({
    '/mail/sent': { ...page, messages: [{ ...LETTERS[2], deliveries: [] }] },
    '/mail/follow': { ...page, cursor: '0a1b2c3d.c', messages: [LETTERS[0]], unread: 1 },
  })
  const argv = ['wait', '--reply-to', 'latest', '--from', 'codex', '--thread', ID[1]]
  expect((await sh(argv, mailbox.shell)).code).toBe(0)
  expect(asksOf(mailbox, 'follow')).toEqual([
    { written_by: 'codex', thread: ID[1], reply_to: ID[2], limit: 3, wait_secs: 60 },
  ])
})

const asksOf = ({ asked }: Canned, op: string) =>
  asked.filter(({ path }) => path === `/mail/${op}`).map(({ body }) => body)
const asksOfInbox = (mailbox: Canned) => asksOf(mailbox, 'inbox')

test('wait exits with 4 when its time is over, and goes on behind a cursor', async () => {
  const nothing = { ...page, messages: [], unread: 2, cursor: '0a1b2c3d.c', waited_secs: 1 }
  using mailbox = canned({ '/mail/whoami': oneShot, '/mail/follow': nothing })
  const argv = ['wait', '--timeout', '1', '--after', '0a1b2c3d.c']
  const { code, out, err } = await sh(argv, mailbox.shell)
  expect({ code, out }).toEqual({ code: 4, out: '' })
  expect(err).toBe('no mail in that time\n')
  expect(asksOf(mailbox, 'follow')[0]).toEqual({ cursor: '0a1b2c3d.c', limit: 3, wait_secs: 1 })
  const json = await sh([...argv, '--json'], mailbox.shell)
  expect([json.code, JSON.parse(json.out).cursor, json.err]).toEqual([4, '0a1b2c3d.c', ''])
})

test('reopen latest takes back the newest that is closed', async () => {
  const settled = { results: [{ message_id: ID[1], ok: true }], unread: 1, now }
  using mailbox = canned({
    '/mail/inbox': { ...page, messages: LETTERS.slice(0, 2), unread: 0 },
    '/mail/reopen': settled,
  })
  expect((await sh(['reopen', 'latest'], mailbox.shell)).code).toBe(0)
  expect(asksOfInbox(mailbox)[0]).toMatchObject({ state: 'closed' })
  expect(mailbox.asked.at(-1)).toMatchObject({ path: '/mail/reopen', body: { message_ids: [ID[1]] } })
  using nothing = canned({ '/mail/inbox': { ...page, messages: [], unread: 0 } })
  expect(await sh(['reopen', 'latest'], nothing.shell)).toMatchObject({ code: 1, out: '' })
})

test('a token that the mailbox does not know: where it came from, and what to do', async () => {
  using folder = tempFolder()
  const path = join(folder.path, 'token')
  const unknown = { '/mail/unread': refusal(new Refusal('unauthenticated', 'unknown token')) }
  const cases: [Shell, string[], string, string][] = [
    [{ token: 'x' }, [], 'M4A_TOKEN', 'correct or unset M4A_TOKEN'],
    [{ env: { M4A_TOKEN_FILE: path } }, [], `${path} (M4A_TOKEN_FILE)`, 'correct or unset M4A_TOKEN_FILE'],
    [{}, ['--as', 'claude'], `${folder.path}/tokens/claude (--as)`, 'mail4agent admin account rotate claude'],
    [{}, ['--as', 'operator'], `${folder.path}/operator.key (--as)`, 'name that with --data-dir or --port'],
  ]
  for (const file of [path, join(folder.path, 'operator.key')]) {
    writeFileSync(file, 'secret')
    chmodSync(file, 0o600)
  }
  prepareToken(folder.path, 'claude', 'secret').keep()
  for (const [shell, argv, from, hint] of cases) {
    using mailbox = canned(unknown)
    const env = { ...mailbox.shell.env, ...shell.env }
    const { code, err } = await sh(['unread', '--data-dir', folder.path, ...argv], { ...shell, env })
    expect(code).toBe(1)
    expect(err).toContain(`token from: ${from}\n`)
    expect(err).toContain(hint)
    expect(err).not.toContain('secret')
  }
})

test('without a mailbox everything that needs it exits with 3 and says how to start it', async () => {
  for (const argv of [['send', 'codex', 'hi'], ['inbox'], ['wait'], ['status'], ['admin', 'account', 'list']]) {
    const { code, out, err } = await sh(argv, { env: { M4A_DATA_DIR: '/nowhere' } })
    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err).toEndWith('try: start the mailbox with: mail4agent start\n')
  }
})
