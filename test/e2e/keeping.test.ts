// Keeping, by the compiled binary: an old tree and an export carried in, a backup under load, and retention while mail goes on.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { makeAipassTree } from '../support/aipass-tree.ts'
import { tempFolder } from '../support/temp.ts'
import { CliWorld } from './support/cli-world.ts'
import { Mailbox } from './support/mailbox.ts'
import { accepted, Wire } from './support/wire.ts'

type Told = {
  added: number
  known: number
  states: Record<string, number>
  accounts_made: string[]
  rooms_made: string[]
  unknown_names: string[]
  changed: { at: string; reason: string }[]
  problems: { at: string; reason: string }[]
}
type Line = {
  type: string
  body: string
  subject: string
  from_text: string
  deliveries: { to_text: string; state: string }[]
}
const linesIn = (text: string): Line[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('carried in and out', () => {
  let first: CliWorld
  let second: CliWorld
  beforeAll(async () => {
    ;[first, second] = [new CliWorld(), new CliWorld()]
    await Promise.all([first.serve(), second.serve()])
  })
  afterAll(async () => {
    await first[Symbol.asyncDispose]()
    await second[Symbol.asyncDispose]()
  })
  const told = async (world: CliWorld, ...argv: string[]): Promise<Told> =>
    JSON.parse((await world.run(['--json', 'import', ...argv])).out)

  test('a tree of AIPass with a thousand messages, some broken: the right states, a true report, and once', async () => {
    using folder = tempFolder()
    const expected = makeAipassTree(folder.path)
    const states = { new: 0, opened: 0, closed: 0 }
    for (const { copies } of expected.letters.values()) for (const state of Object.values(copies)) states[state]++
    const all = { added: expected.letters.size, known: 0, states }

    const dry = await told(first, 'aipass', folder.path, '--dry-run')
    const others = expected.accounts.filter((name) => name !== 'outsider')
    expect(dry).toMatchObject({ ...all, accounts_made: [], unknown_names: others })
    const refused = await first.run(['import', 'aipass', folder.path])
    expect(refused).toMatchObject({ code: 1, out: '' })
    for (const name of others) expect(refused.err).toContain(name)
    expect(refused.err).toContain('--map old=new')
    expect(await first.json<{ accounts: unknown[] }>(['admin', 'account', 'list'])).toMatchObject({
      accounts: [{ id: 'operator' }],
    })

    const made = await told(first, 'aipass', folder.path, '--make-accounts')
    expect(made).toMatchObject({ ...all, accounts_made: expected.accounts, unknown_names: [] })
    const problems = new Map(made.problems.map(({ at, reason }) => [relative(folder.path, at), reason]))
    expect([...problems.keys()].sort()).toEqual([...expected.problems.keys()].sort())
    for (const [at, reason] of expected.problems) expect(problems.get(at)).toStartWith(reason)
    expect(made.changed).toHaveLength(expected.changed)
    expect(await told(first, 'aipass', folder.path)).toMatchObject({ added: 0, known: all.added })

    const lines = linesIn((await first.run(['export', '--all'])).out)
    const letters = lines.filter(({ type }) => type === 'message')
    expect(letters).toHaveLength(all.added)
    for (const { body, subject, from_text, deliveries } of letters) {
      const one = expected.letters.get(body)!
      expect({
        from: from_text,
        subject,
        copies: Object.fromEntries(deliveries.map(({ to_text, state }) => [to_text, state])),
      }).toEqual({
        from: one.from,
        subject: one.subject,
        copies: one.copies,
      })
    }
    // as its new owner sees it
    await first.json(['admin', 'account', 'rotate', 'memory'])
    const shown = await first.run(['--as', 'memory', 'inbox', '--full', '-n', '1'])
    expect(shown.out).toContain('imported  from aipass: the sender was not proved here')
    expect((await first.run(['--as', 'memory', 'inbox', '-n', '5'])).out).toContain('(imported)')
  }, 60_000)

  test('an export goes into another mailbox, byte for byte and once; damaged lines are told by their number', async () => {
    const path = join(first.home, 'mail.jsonl')
    const wrote = await first.json<{ letters: number }>(['export', '--all', '--out', path])
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect((await first.run(['export', '--all', '--out', path])).code).toBe(2)
    const text = readFileSync(path, 'utf8')
    for (const name of ['operator.key', 'tokens/memory'])
      expect(text).not.toContain(readFileSync(join(first.dataDir, name), 'utf8').trim())
    const lines = text.trimEnd().split('\n')
    const at = lines.findIndex((line) => line.includes('"type":"message"'))
    const spoilt = [...lines]
    spoilt[at] = lines[at]!.slice(0, -20)
    spoilt[at + 1] = '{"type":"message","subject":"alone"}'
    const damaged = join(first.home, 'damaged.jsonl')
    writeFileSync(damaged, spoilt.slice(0, -1).join('\n'))
    const broken = await second.run(['--json', 'import', damaged, '--make-accounts'])
    expect(broken.code).toBe(1)
    const report: Told = JSON.parse(broken.out)
    expect(report.added).toBe(wrote.letters - 2)
    expect(report.problems.map((one) => one.at)).toEqual([`line ${at + 1}`, `line ${at + 2}`, 'the end'])

    const whole = await second.json<Told>(['import', path])
    expect(whole).toMatchObject({ added: 2, known: wrote.letters - 2, problems: [], accounts_made: [] })
    expect(await second.json<Told>(['import', path])).toMatchObject({ added: 0, known: wrote.letters })
    const facts = (line: Line) => [
      line.from_text,
      line.subject,
      line.body,
      line.deliveries.map(({ to_text, state }) => [to_text, state]),
    ]
    const byBody = (all: Line[]) =>
      all
        .filter(({ type }) => type === 'message')
        .sort((a, b) => (a.body < b.body ? -1 : 1))
        .map(facts)
    expect(byBody(linesIn((await second.run(['export', '--all'])).out))).toEqual(byBody(linesIn(text)))
    expect(await first.json<Told>(['import', path])).toMatchObject({ added: 0, known: wrote.letters })
  }, 60_000)

  test('one’s own mail, a thread, and the archive; names are mapped', async () => {
    await first.json(['admin', 'account', 'rotate', 'drone'])
    const own = linesIn((await first.run(['--as', 'drone', 'export'])).out)
    expect(own[0]).toMatchObject({ type: 'header', scope: 'own' })
    expect(own.at(-1)).toMatchObject({ type: 'end', letters: own.length - 2 })
    expect(
      own
        .slice(1, -1)
        .every(
          ({ from_text, deliveries }) => from_text === 'drone' || deliveries.some(({ to_text }) => to_text === 'drone'),
        ),
    ).toBe(true)
    const sent = await first.json<{ message_id: string }>([
      '--as',
      'drone',
      'send',
      'memory',
      'hi',
      '--',
      '--flag\n@all',
    ])
    const reply = await first.json<{ message_id: string }>(['--as', 'memory', 'reply', sent.message_id, 'done'])
    const file = join(first.home, 'thread.jsonl')
    await first.json(['--as', 'drone', 'export', '--thread', reply.message_id, '--out', file])
    await second.json(['admin', 'account', 'add', 'Claude'])
    const mapped = await second.json<Told>(['import', file, '--map', 'DRONE=claude', '--map', '@memory=@Claude'])
    expect(mapped).toMatchObject({ added: 2, states: { new: 1, closed: 1 } })
    const archived = await second.json<{ messages: { body: string; imported: object }[] }>([
      '--as',
      'Claude',
      'archive',
      '--from',
      'claude',
    ])
    expect(archived.messages).toMatchObject([
      { body: '--flag\n@all', imported: { source: 'mail4agent', id: sent.message_id } },
    ])
    for (const file of ['/nowhere', first.home, join(first.dataDir, 'operator.key')])
      expect((await second.run(['import', file])).code).toBe(2)
    expect((await first.run(['--as', 'drone', 'export', '--all'])).code).toBe(1)
    expect((await first.run(['--as', 'drone', 'import', file])).code).toBe(1)
  }, 60_000)
})

describe('while mail goes on', () => {
  let mailbox: Mailbox
  const tokens: string[] = []
  beforeAll(async () => {
    mailbox = await Mailbox.start()
    for (let index = 0; index < 8; index++) tokens.push(await mailbox.account(`s${index}`))
    tokens.push(await mailbox.account('reader'))
  })
  afterAll(() => mailbox[Symbol.asyncDispose]())
  const command = async (...argv: string[]) => {
    const child = Bun.spawn(
      [
        process.env.M4A_CLI_BIN ?? join(import.meta.dir, '../../dist/mail4agent'),
        ...argv,
        '--data-dir',
        mailbox.data,
        '--json',
      ],
      {
        env: { PATH: process.env.PATH ?? '', HOME: mailbox.root, M4A_RECOGNISED_AGENTS: '' },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      },
    )
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { code: await child.exited, out, err }
  }

  test('a backup under 64 senders has every letter that was acknowledged before it began, and can be put back', async () => {
    const wires = await Wire.many(mailbox.port, 64)
    const acknowledged: string[] = []
    let running = true
    const senders = wires.map(async (wire, index) => {
      while (running) {
        const answer = await wire.post('/mail/send', tokens[index % 8]!, {
          to: 'reader',
          subject: 's',
          body: `b ${index}`,
        })
        if (answer.status === 200) acknowledged.push(answer.body.message_id)
        else await Bun.sleep(20)
      }
      wire.cut()
    })
    await Bun.sleep(400)
    for (let round = 0; round < 3; round++) {
      const before = [...acknowledged]
      const made = (await mailbox.admin('backup', {})) as { path: string; messages: number; deliveries: number }
      expect(made.messages).toBeGreaterThanOrEqual(before.length)
      expect(made.deliveries).toBe(made.messages)
      const copy = new Database(made.path, { readonly: true })
      expect(copy.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
      const there = new Set(
        copy
          .query<{ id: number }, []>('SELECT id FROM message')
          .all()
          .map(({ id }) => id),
      )
      copy.close()
      expect(before.filter((id) => !there.has(Number.parseInt(id.slice(4, 16), 16)))).toEqual([])
      const checked = await command('admin', 'restore', '--check', made.path)
      expect(JSON.parse(checked.out)).toMatchObject({ messages: made.messages })
    }
    running = false
    await Promise.all(senders)
    expect(acknowledged.length).toBeGreaterThan(500)
  }, 60_000)

  test('a backup that is damaged inside, or of a newer mail4agent, is refused, also by --check', async () => {
    const { path } = (await mailbox.admin('backup', { name: 'good' })) as { path: string }
    const spoil = (name: string, sql: string) => {
      const copy = join(mailbox.root, name)
      writeFileSync(copy, readFileSync(path))
      const db = new Database(copy)
      db.run(sql)
      db.close()
      return copy
    }
    const newer = spoil('newer', 'PRAGMA user_version = 1000')
    const lost = spoil('lost', 'DELETE FROM message WHERE id IN (SELECT id FROM message LIMIT 3)')
    for (const [file, kind, words] of [
      [newer, 'newer_store', 'schema 1000'],
      [lost, 'damaged_store', 'the letters of 3 copies are missing'],
    ]) {
      const { code, err } = await command('admin', 'restore', '--check', file!)
      expect(code).toBe(1)
      expect(JSON.parse(err)).toMatchObject({ kind, message: expect.stringContaining(words!) })
    }
  }, 30_000)

  test('retention removes the old while others send; a kill -9 leaves each conversation whole or gone, and the counters right', async () => {
    const reader = tokens[8]!
    const wire = await Wire.open(mailbox.port)
    const open: string[] = []
    for (let index = 0; index < 40; index++)
      open.push(
        (await accepted(wire.post('/mail/send', tokens[0]!, { to: 'reader', subject: 's', body: `stays ${index}` })))
          .message_id,
      )
    wire.cut()
    await mailbox.down()
    // a hundred days pass: all mail is old, and all but the last forty letters was closed then
    const old = 100 * 86_400_000
    const db = new Database(join(mailbox.data, 'mail.sqlite'))
    db.run('PRAGMA busy_timeout = 5000')
    const least = Number.parseInt(open[0]!.slice(4, 16), 16)
    db.run('UPDATE message SET created = created - ?', [old])
    db.run('UPDATE delivery SET closed = 1, closed_at = ? WHERE closed = 0 AND id < ?', [Date.now() - old, least])
    db.run('UPDATE box SET open = (SELECT count(*) FROM delivery d WHERE d.box = box.id AND d.closed = 0)')
    const total = db.query<{ n: number }, []>('SELECT count(*) AS n FROM message').get()!.n
    db.close()
    await mailbox.up()
    const plan = JSON.parse((await command('admin', 'retention')).out)
    expect(plan).toMatchObject({ removed: false, messages: total - 40, closed_days: 90 })
    expect(plan.accounts).toContainEqual(
      expect.objectContaining({ account: 'reader', going: total - 40, kept_not_closed: 40 }),
    )

    const pass = mailbox.admin('retention', { run: true }).catch(() => null)
    await Bun.sleep(150)
    await mailbox.down('SIGKILL')
    await pass
    const left = new Database(join(mailbox.data, 'mail.sqlite'))
    expect(left.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    const rows = left.query<{ n: number }, []>('SELECT count(*) AS n FROM message').get()!.n
    expect(rows).toBeLessThan(total)
    expect(rows).toBeGreaterThan(40)
    expect(
      left.query('SELECT d.id FROM delivery d LEFT JOIN message m ON m.id = d.id WHERE m.id IS NULL').all(),
    ).toEqual([])
    expect(
      left
        .query(
          'SELECT id FROM box b WHERE open <> (SELECT count(*) FROM delivery d WHERE d.box = b.id AND d.closed = 0)',
        )
        .all(),
    ).toEqual([])
    left.close()

    await mailbox.up()
    const wires = await Wire.many(mailbox.port, 4)
    let running = true
    const times: number[] = []
    const senders = wires.map(async (one, index) => {
      while (running) {
        const began = performance.now()
        await accepted(one.post('/mail/send', tokens[index]!, { to: 's7', subject: 's', body: 'meanwhile' }))
        times.push(performance.now() - began)
        await Bun.sleep(5)
      }
      one.cut()
    })
    const done = JSON.parse((await command('admin', 'retention', 'run')).out)
    running = false
    await Promise.all(senders)
    times.sort((a, b) => a - b)
    const p99 = times[Math.floor(times.length * 0.99)] ?? 0
    console.log(
      `removed ${done.messages} letters, ${times.length} sends meanwhile, p50 ${times[times.length >> 1]?.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
    )
    expect(done).toMatchObject({ removed: true, messages: rows - 40 })
    expect(p99).toBeLessThan(250)
    const { status, body } = await mailbox.post('/mail/inbox', reader, { limit: 256, max_bytes: 1_000_000 })
    expect([status, body.unread]).toEqual([200, 40])
    expect((body.messages as { message_id: string }[]).map((one) => one.message_id)).toEqual(open)
    expect(JSON.parse((await command('admin', 'retention')).out)).toMatchObject({ messages: 0 })
  }, 90_000)
})
