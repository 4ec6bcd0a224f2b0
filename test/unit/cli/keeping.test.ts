// The texts of keeping: archive, retention, backup and the report of an import, as people read them; and what is asked for them.
import { expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from '../../support/temp.ts'
import { canned, ID, LETTERS, letter, now } from './canned.ts'
import { expectGolden } from './golden.ts'
import { NOW, sh } from './shell.ts'

const imported = { source: 'aipass' as const, id: '9f86', at: now }
const closed = letter(1, 400, {
  state: 'closed',
  closed_at: now,
  close_reason: 'acknowledged',
  from_text: 'drone',
  imported,
})

test('archive', async () => {
  using mailbox = canned({ '/mail/archive': { messages: [closed], has_more: true, cursor: '0a1b2c3d.b', now } })
  const argv = ['archive', '--from', '@drone', '--room', '#build', '--since', '7d', '--until', '2h', '-n', '1']
  const { out, err, code } = await sh(argv, mailbox.shell)
  expect({ code, err }).toEqual({ code: 0, err: 'there is more: add --cursor 0a1b2c3d.b\n' })
  await expectGolden('archive', out)
  expect(mailbox.asked[0]!.body).toEqual({
    written_by: 'drone',
    room: 'build',
    since_unix_ms: NOW - 7 * 86_400_000,
    until_unix_ms: NOW - 7_200_000,
    limit: 1,
    cursor: null,
    brief: true,
  })
  await expectGolden('archive-full', (await sh(['archive', '--full'], mailbox.shell)).out)
})

const retention = {
  removed: false,
  closed_days: 90,
  events_days: null,
  messages: 781,
  conversations: 42,
  bytes: 422_521,
  events: 0,
  oldest_closed_at: '2026-05-01T00:00:00.000Z',
  newest_closed_at: '2026-08-22T00:00:00.000Z',
  accounts: [
    { account: 'claude', going: 700, kept_not_closed: 4, kept_too_young: 12 },
    { account: null, going: 81, kept_not_closed: 0, kept_too_young: 0 },
  ],
  now,
}

test('retention', async () => {
  using mailbox = canned({ '/admin/retention': retention })
  const { out, err } = await sh(['admin', 'retention'], mailbox.shell)
  await expectGolden('retention', out)
  expect(err).toBe('remove it with: mail4agent admin retention run\n')
  for (const argv of [['run'], ['run', '--dry-run'], ['--dry-run']])
    await sh(['admin', 'retention', ...argv], mailbox.shell)
  expect(mailbox.asked.map(({ body }) => body)).toEqual([{ run: false }, { run: true }, { run: false }, { run: false }])
  expect((await sh(['admin', 'retention', 'walk'], mailbox.shell)).code).toBe(2)
})

test('an export begins and ends with a line of its own, and a file has it whole or not at all', async () => {
  using folder = tempFolder()
  const { age_secs, state, to, to_text, ...stored } = LETTERS[0]!
  const page = (more: boolean) => ({
    letters: [{ ...stored, deliveries: [] }],
    has_more: more,
    cursor: '0a1b2c3d.a',
    now,
  })
  const shell = { cwd: folder.path }
  {
    using mailbox = canned({ '/mail/export': [page(true), page(false)] })
    const { out, code } = await sh(['export', '--out', 'mail.jsonl'], { ...mailbox.shell, ...shell })
    const path = join(folder.path, 'mail.jsonl')
    expect({ code, out }).toEqual({ code: 0, out: `${path} (2 letters)\n` })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const lines = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ type }) => type)).toEqual(['header', 'message', 'message', 'end'])
    expect(lines[0]).toEqual({
      type: 'header',
      format: 'mail4agent-export',
      version: 1,
      exported_at: now,
      scope: 'own',
    })
    expect(mailbox.asked[1]!.body).toMatchObject({ cursor: '0a1b2c3d.a' })
  }
  using broken = canned({ '/mail/export': [page(true)] })
  expect((await sh(['export', '--out', 'cut.jsonl'], { ...broken.shell, ...shell })).code).not.toBe(0)
  expect(existsSync(join(folder.path, 'cut.jsonl'))).toBe(false)
  expect((await sh(['export', '--all', '--account', 'a'], broken.shell)).code).toBe(2)
})

test('the report of an import', async () => {
  using folder = tempFolder()
  const { age_secs, state, to, to_text, ...stored } = LETTERS[0]!
  const copy = { to_text: 'codex', participant: 'codex', state: 'closed', closed_at: now }
  const line = (more: object) => JSON.stringify({ type: 'message', ...stored, deliveries: [copy], ...more })
  const path = join(folder.path, 'mail.jsonl')
  const lines = [
    JSON.stringify({ type: 'header', format: 'mail4agent-export', version: 1 }),
    line({}),
    line({ message_id: ID[1], subject: 'x'.repeat(600) }),
    '{"type":"message"}',
    'no line\u001b[31m',
    JSON.stringify({ type: 'end', letters: 5 }),
  ]
  writeFileSync(path, `${lines.join('\n')}\n`)
  using mailbox = canned({
    '/admin/participant/list': { accounts: [{ id: 'CODEX' }], has_more: false, after: null },
    '/admin/room/list': { rooms: [], has_more: false, after: null },
    '/admin/participant': { id: 'claude' },
    '/admin/import': { results: [{ key: ID[0], outcome: 'added' }], now },
  })
  const refused = await sh(['import', path], mailbox.shell)
  expect(refused.code).toBe(1)
  await expectGolden('import-unknown', refused.err)
  const { out, code } = await sh(['import', path, '--make-accounts'], mailbox.shell)
  expect(code).toBe(1)
  await expectGolden('import', out)
  const asked = mailbox.asked.find((one) => one.path === '/admin/participant')!.body
  expect(asked).toEqual({ id: 'claude', label: null, kind: 'agent', digest: expect.stringMatching(/^[0-9a-f]{64}$/) })
  for (const wrong of ['claude', '#a=b', 'a=', '=b', 'a b=c'])
    expect((await sh(['import', path, '--map', wrong], mailbox.shell)).code).toBe(2)
  for (const text of [
    '',
    'nothing\n',
    '{"type":"end","letters":0}\n',
    '{"type":"header","format":"mail4agent-export","version":2}\n',
  ]) {
    writeFileSync(path, text)
    expect((await sh(['import', path], mailbox.shell)).code).toBe(2)
  }
})
