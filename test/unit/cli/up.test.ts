// up, down and client in this process, with a daemon of the test's own that runs already.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Daemon, startDaemon } from '../../../src/door/daemon.ts'
import { folder, silent } from '../door/support.ts'
import { sh } from './shell.ts'

let place: ReturnType<typeof folder>
let daemon: Daemon
let dataDir: string

const start = async () => {
  // nobody is an agent here, whoever runs the tests
  daemon = await startDaemon({ dataDir, port: 0, socket: join(dataDir, 'm4a.sock'), recognised: [], log: silent })
}
beforeEach(async () => {
  place = folder()
  dataDir = join(place.path, 'data')
  await start()
})
afterEach(async () => {
  await daemon.stop()
  place[Symbol.dispose]()
})

const run = (...words: string[]) =>
  sh(words, { env: { M4A_DATA_DIR: dataDir, PATH: '/nowhere', USER: 'pat' }, home: place.path, now: Date.now })
const json = async (...words: string[]) => {
  const { code, out, err } = await run(...words, '--json')
  expect(err).toBe('')
  return { code, ...JSON.parse(out) }
}
const at = (path: string) => join(place.path, path)
const write = (path: string, content: string) => {
  mkdirSync(join(at(path), '..'), { recursive: true })
  writeFileSync(at(path), content)
}
const tokens = () => readdirSync(join(dataDir, 'tokens')).sort()

test('without --yes and without a person nothing is done; --dry-run shows the exact difference', async () => {
  write('.gemini/settings.json', '{\n  "theme": "dark" // mine\n}\n')
  expect(await run('up')).toMatchObject({ code: 2, out: '' })
  const { code, out } = await run('up', '--dry-run')
  expect(code).toBe(0)
  expect(out).toContain('-  "theme": "dark" // mine\n+  "theme": "dark", // mine\n+  "mcpServers": {')
  expect(readFileSync(at('.gemini/settings.json'), 'utf8')).not.toContain('mail4agent')
  expect(existsSync(join(dataDir, 'tokens'))).toBe(false)
})

test('makes accounts, writes, sends a letter; again it does nothing; down takes it back and keeps the mail', async () => {
  write('.gemini/settings.json', '{}')
  mkdirSync(at('.codex'))
  const first = await json('up', '--yes')
  expect(first).toMatchObject({ code: 0, daemon: 'runs already', person: 'pat', made: ['pat', 'codex', 'gemini'] })
  expect(first.letters).toMatchObject([{ to: 'codex' }, { to: 'gemini' }])
  expect(tokens()).toEqual(['codex', 'gemini', 'pat'])
  expect(statSync(join(dataDir, 'install.lock')).mode & 0o777).toBe(0o600)
  for (const name of tokens()) expect(statSync(join(dataDir, 'tokens', name)).mode & 0o777).toBe(0o600)
  const inbox = await json('inbox', '--as', 'gemini')
  expect(inbox.messages).toMatchObject([{ subject: 'Your mailbox works', from: { participant: 'pat' } }])

  const again = await json('up', '--yes')
  expect(again).toMatchObject({ code: 0, made: [], letters: [], clients: [{ written: [] }, { written: [] }] })

  const { clients } = await json('client', 'list')
  expect(clients.find(({ client }: { client: string }) => client === 'codex')).toMatchObject({ state: 'set up' })
  const down = await json('down', '--yes')
  expect(down).toMatchObject({ code: 0, daemon: 'still running: it was not started by up', purged: false })
  expect(readFileSync(at('.gemini/settings.json'), 'utf8')).toBe('{}')
  expect(readdirSync(at('.codex'))).toEqual([])
  expect(tokens()).toEqual(['codex', 'gemini', 'pat'])
  expect((await run('down', '--yes')).out).toBe('nothing to take back\n')
})

test('cut off after a token was written, the next run goes on with that very token', async () => {
  mkdirSync(at('.codex'))
  mkdirSync(join(dataDir, 'tokens'), { mode: 0o700 })
  writeFileSync(join(dataDir, 'tokens', 'codex'), 'f'.repeat(64), { mode: 0o600 })
  expect(await json('up', '--yes')).toMatchObject({ code: 0, made: ['pat', 'codex'] })
  expect(readFileSync(join(dataDir, 'tokens', 'codex'), 'utf8')).toBe('f'.repeat(64))
  expect((await json('whoami', '--as', 'codex')).account).toBe('codex')
})

test('a damaged file is named by line and its client left alone; the others are set up', async () => {
  write('.gemini/settings.json', '{\n  broken\n}')
  mkdirSync(at('.codex'))
  const { code, out } = await run('up', '--yes')
  expect(code).toBe(1)
  expect(out).toMatch(/Gemini CLI was left alone: .*settings\.json, line 2: /)
  expect(readFileSync(at('.gemini/settings.json'), 'utf8')).toBe('{\n  broken\n}')
  expect(readFileSync(at('.codex/config.toml'), 'utf8')).toContain('mail4agent')
  expect(tokens()).toEqual(['codex', 'pat'])
})

test('an account whose token is elsewhere is not taken over', async () => {
  await run('admin', 'account', 'add', 'codex')
  writeFileSync(join(dataDir, 'tokens', 'other'), readFileSync(join(dataDir, 'tokens', 'codex')), { mode: 0o600 })
  await Bun.file(join(dataDir, 'tokens', 'codex')).delete()
  const { code, clients } = await json('up', '--yes', '--only', 'codex')
  expect(code).toBe(1)
  expect(clients).toMatchObject([{ written: [], refusal: { kind: 'which_account' } }])
  expect(existsSync(at('.codex'))).toBe(false)
})

describe('client', () => {
  test('add and remove one, also where it was not found', async () => {
    expect(await json('client', 'add', 'cursor', '--yes')).toMatchObject({ code: 0, made: ['pat', 'cursor'] })
    expect(readdirSync(at('.cursor')).sort()).toEqual(['hooks.json', 'mcp.json'])
    expect(await json('client', 'remove', 'cursor', '--yes')).toMatchObject({
      code: 0,
      files: [{ done: 'removed' }, { done: 'removed' }],
    })
    expect(existsSync(at('.cursor'))).toBe(false)
    expect((await run('client', 'remove', 'cursor', '--yes')).out).toBe('nothing of ours is in cursor\n')
  })

  test('a wrong name is usage', async () => {
    expect(await run('client', 'add', 'gemni')).toMatchObject({
      code: 2,
      err: expect.stringContaining('did you mean: gemini'),
    })
    expect(await run('up', '--only', 'codex,nobody')).toMatchObject({ code: 2 })
  })
})

test('--purge removes what is ours, once nothing runs there', async () => {
  expect(await run('down', '--purge', '--yes')).toMatchObject({ code: 1 })
  await daemon.stop()
  writeFileSync(join(dataDir, 'notes.txt'), 'mine')
  const { code, out } = await run('down', '--purge', '--yes')
  expect(code).toBe(0)
  expect(out).toContain('these are not ours and stay: notes.txt')
  expect(readdirSync(dataDir)).toEqual(['notes.txt'])
  chmodSync(dataDir, 0o700)
})

test('--purge of a folder that is no mailbox removes nothing of it', async () => {
  const other = at('other')
  mkdirSync(join(other, 'tokens'), { recursive: true })
  mkdirSync(join(other, 'backup-photos'))
  writeFileSync(join(other, 'lock'), 'mine')
  chmodSync(other, 0o700)
  const { code, out } = await run('down', '--purge', '--yes', '--data-dir', other)
  expect(code).toBe(0)
  expect(out).toContain('these are not ours and stay')
  expect(readdirSync(other).sort()).toEqual(['backup-photos', 'lock', 'tokens'])
})

test('the account of the person is remembered: no other person’s account is ever written with', async () => {
  await run('up', '--yes', '--only', 'codex')
  await run('admin', 'account', 'add', 'alice', '--person')
  await run('admin', 'account', 'set', 'alice', '--private')
  expect(await json('up', '--yes', '--only', 'gemini')).toMatchObject({ person: 'pat', made: ['gemini'] })
  expect((await json('inbox', '--as', 'gemini')).messages).toMatchObject([{ from: { participant: 'pat' } }])
})

test('nobody’s account is taken because it is the only person’s; an agent of the user’s name is no person', async () => {
  await run('admin', 'account', 'add', 'alice', '--person')
  await run('admin', 'account', 'add', 'pat')
  expect(await json('up', '--yes', '--only', 'codex')).toMatchObject({ person: 'me', made: ['me', 'codex'] })
})

test('afterwards a bare command acts as the person, until another default is set', async () => {
  expect(await json('up', '--yes', '--only', 'codex')).toMatchObject({ person: 'pat' })
  expect(statSync(join(dataDir, 'default-account')).mode & 0o777).toBe(0o600)
  expect((await json('whoami')).account).toBe('pat')
  writeFileSync(join(dataDir, 'default-account'), 'codex\n')
  await run('up', '--yes', '--only', 'gemini')
  expect((await json('whoami')).account).toBe('codex')
  await run('admin', 'account', 'remove', 'codex')
  expect(existsSync(join(dataDir, 'default-account'))).toBe(false)
})

test('--dry-run names the accounts and letters; the line ends of a file do not show', async () => {
  write('.gemini/settings.json', '{\r\n  "theme": "dark"\r\n}\r\n')
  const { out } = await run('up', '--dry-run')
  expect(out).toContain('accounts  makes pat, gemini\nletters  writes to gemini that the mailbox works\n')
  expect(out).toContain('-  "theme": "dark"\n+  "theme": "dark",\n')
  expect(out).not.toContain('u000d')
  await run('up', '--yes')
  expect((await run('up', '--dry-run')).out).not.toContain('accounts')
})

describe('when the operator of the first start is none any more', () => {
  beforeEach(() => run('admin', 'account', 'add', 'lukas', '--person', '--can', 'send,read,operator'))
  const old = () => readFileSync(join(dataDir, 'operator.key'))

  test('removed or with another token: its old key is put away, and the way out is named', async () => {
    const key = old()
    expect(await run('admin', 'account', 'rotate', 'operator')).toMatchObject({ code: 0 })
    expect(existsSync(join(dataDir, 'operator.key'))).toBe(false)
    writeFileSync(join(dataDir, 'operator.key'), key, { mode: 0o600 })
    expect(await run('admin', 'account', 'list')).toMatchObject({ code: 0 })
    expect(await run('admin', 'account', 'remove', 'operator')).toMatchObject({ code: 0 })
    writeFileSync(join(dataDir, 'operator.key'), key, { mode: 0o600 })
    for (const words of [
      ['admin', 'account', 'list'],
      ['up', '--yes', '--only', 'codex'],
    ])
      expect(await run(...words)).toMatchObject({ code: 1, err: expect.stringContaining('with --as lukas') })
    const { code, findings } = await json('doctor')
    expect(code).toBe(1)
    expect(findings.find(({ check }: { check: string }) => check === 'operator')).toMatchObject({
      level: 'fail',
      todo: expect.stringContaining('--as lukas'),
    })
    expect(await run('up', '--yes', '--only', 'codex', '--as', 'lukas')).toMatchObject({ code: 0 })
  })

  test('disarmed: the way out is named; the last one cannot be', async () => {
    expect(await run('admin', 'account', 'set', 'operator', '--cannot', 'operator')).toMatchObject({ code: 0 })
    const refused = await run('admin', 'account', 'list')
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('with --as lukas') })
    expect((await json('doctor')).code).toBe(1)
    for (const words of [
      ['set', 'lukas', '--cannot', 'operator'],
      ['remove', 'lukas'],
    ])
      expect(await run('admin', 'account', ...words, '--as', 'lukas', '--json')).toMatchObject({
        code: 1,
        err: expect.stringContaining('"last_operator"'),
      })
  })
})
