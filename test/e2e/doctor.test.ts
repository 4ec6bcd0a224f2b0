// mail4agent doctor on machines that are really broken: it names what is wrong and the way out, mends what is safe, and no more.
import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statfsSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { lock } from '../../src/store/lock.ts'
import { tempFolder } from '../support/temp.ts'
import { expectGolden } from '../unit/cli/golden.ts'
import { BINARY } from './support/cli-world.ts'
import { havePackages } from './support/packages.ts'
import { type Diagnosis, runs, SickMachine } from './support/sick-machine.ts'

setDefaultTimeout(60_000)

async function machine(): Promise<SickMachine> {
  const sick = new SickMachine()
  await sick.up()
  return sick
}

/** The findings that are not in order. */
const wrong = ({ findings }: Diagnosis) => findings.filter(({ level }) => level !== 'ok')
const about = ({ findings }: Diagnosis, check: string) => findings.filter((finding) => finding.check === check)

async function expectClean(sick: SickMachine): Promise<void> {
  const diagnosis = await sick.doctor()
  expect(wrong(diagnosis)).toEqual([])
  expect(diagnosis).toMatchObject({ code: 0, ok: true, mendable: 0 })
}

/** `--fix` mends it, says what it did, and leaves everything else as it was before the machine fell sick. */
async function expectMended(sick: SickMachine, before: Map<string, string>, ...did: string[]): Promise<void> {
  const diagnosis = await sick.doctor('--fix')
  expect(wrong(diagnosis)).toEqual([])
  expect(diagnosis).toMatchObject({ code: 0, ok: true, unfixed: [] })
  for (const line of did) expect(diagnosis.fixed).toContainEqual(expect.stringContaining(line))
  await expectClean(sick)
  expect(sick.tree()).toEqual(before)
}

test('a healthy machine: all is well, every client answers, and nothing is changed by looking', async () => {
  await using sick = await machine()
  const before = sick.tree()
  await expectClean(sick)
  const diagnosis = await sick.doctor()
  for (const client of ['codex', 'gemini'])
    expect(about(diagnosis, `client ${client}`)).toMatchObject([
      { level: 'ok', todo: null, facts: { answer: { account: client, tools: 8 } } },
    ])
  await expectGolden('doctor-healthy', await sick.text())
  expect((await sick.doctor('--fix')).fixed).toEqual([])
  expect(sick.tree()).toEqual(before)
})

test('to look is no sign of life of any account', async () => {
  await using sick = await machine()
  const seen = async () => {
    const accounts = []
    for (const account of ['codex', 'gemini']) {
      const { code, out } = await sick.run(['ping', account, '--json'])
      expect(code).toBe(0)
      const { live_sessions, last_seen } = JSON.parse(out)
      accounts.push({ account, live_sessions, last_seen })
    }
    return accounts
  }
  const before = await seen()
  const { code, findings } = await sick.doctor()
  expect(code).toBe(0)
  expect(findings.filter(({ facts }) => 'answer' in facts && facts.answer !== null)).toHaveLength(2)
  expect(await seen()).toEqual(before)
  expect(before.map(({ live_sessions, last_seen }) => [live_sessions, last_seen])).toEqual([
    [0, null],
    [0, null],
  ])
})

test('it looks without the operator key, and says what it did not see', async () => {
  await using sick = await machine()
  rmSync(join(sick.data, 'operator.key'))
  const diagnosis = await sick.doctor()
  expect(wrong(diagnosis)).toEqual([])
  expect(about(diagnosis, 'door')).toMatchObject([{ what: expect.stringContaining('only an operator may') }])
  expect(about(diagnosis, 'unread')).toMatchObject([{ what: '2 wait for agents that are not running' }])
})

test('an agent may run it: what only its person may see is left out and said, and nothing is started for it', async () => {
  await using sick = new SickMachine()
  const shell = join(sick.home, 'codex')
  copyFileSync('/bin/sh', shell)
  sick.env = { ...sick.env, M4A_RECOGNISED_AGENTS: shell }
  await sick.up()
  const asAgent = async (...words: string[]): Promise<Diagnosis> => {
    const line = [BINARY, 'doctor', '--json', ...words].join(' ')
    const child = Bun.spawn([shell, '-c', `${line}; true`], { env: sick.env, cwd: sick.home, stdout: 'pipe' })
    return { code: 0, ...(await new Response(child.stdout).json()) }
  }
  const diagnosis = await asAgent()
  expect(wrong(diagnosis)).toEqual([])
  for (const check of ['store', 'door'])
    expect(about(diagnosis, check)).toMatchObject([{ what: expect.stringContaining('only an operator') }])
  // it runs, and reads its own
  expect(about(diagnosis, 'unread')).toMatchObject([{ what: '1 waits for agents that are not running' }])
  expect(about(diagnosis, 'client codex')).toMatchObject([{ what: expect.stringContaining('its agent runs') }])
  await sick.end()
  expect((await asAgent('--fix')).unfixed).toMatchObject([
    { check: 'mailbox', reason: expect.stringMatching(/may not/) },
  ])
})

test('an agent that runs: the door through which mail reaches it; without one, each says why, as `wake plan` does', async () => {
  await using sick = new SickMachine()
  const shell = join(sick.home, 'codex')
  copyFileSync('/bin/sh', shell)
  sick.env = { ...sick.env, M4A_RECOGNISED_AGENTS: shell }
  await sick.up()
  const line = `${BINARY} ping operator >/dev/null; echo; read end`
  const agent = Bun.spawn([shell, '-c', line], { env: sick.env, cwd: sick.home, stdin: 'pipe', stdout: 'pipe' })
  await agent.stdout.getReader().read()
  expect(about(await sick.doctor(), 'door codex')).toMatchObject([
    { level: 'ok', what: expect.stringContaining('at turn-hook'), facts: { tier: 'hook' } },
  ])
  expect((await sick.run(['wake', 'disable', 'codex', 'turn-hook'])).code).toBe(0)
  const [found, ...more] = about(await sick.doctor(), 'door codex')
  expect(more).toEqual([])
  expect(found).toMatchObject({ level: 'warn', todo: expect.stringMatching(/wake plan codex$/) })
  const plan = JSON.parse((await sick.run(['wake', 'plan', 'codex', '--json'])).out)
  expect(plan.doors.length).toBeGreaterThan(0)
  for (const { door, why } of plan.doors) expect(found?.what).toContain(`${door}: ${why}`)
  expect((await sick.run(['wake', 'mode', 'codex', 'off'])).code).toBe(0)
  expect(wrong(await sick.doctor())).toEqual([])
  agent.kill()
  await agent.exited
})

test('an entry that another mail4agent of this machine wrote still answers, and is named', async () => {
  await using sick = new SickMachine()
  const other = join(sick.home, 'mail4agent')
  copyFileSync(realpathSync(BINARY), other)
  const child = Bun.spawn([other, 'up', '--yes', '--no-service'], { env: sick.env, stdout: 'ignore', stderr: 'ignore' })
  expect(await child.exited).toBe(0)
  const diagnosis = await sick.doctor('--fix')
  const answered = { level: 'warn', what: `the entry names another program, ${other}`, facts: { answer: { tools: 8 } } }
  expect(wrong(diagnosis)).toMatchObject([answered, answered])
  expect(diagnosis).toMatchObject({ code: 0, fixed: [] })
})

test('mending waits for nobody and crosses nobody: while another command sets up, it is refused by name', async () => {
  await using sick = await machine()
  const config = join(sick.home, '.codex', 'config.toml')
  writeFileSync(config, '')
  const held = lock(join(sick.data, 'install.lock'))
  const { code, err } = await sick.run(['doctor', '--fix', '--json'])
  expect([code, JSON.parse(err).kind]).toEqual([1, 'setup_running'])
  expect(readFileSync(config, 'utf8')).toBe('')
  held.release()
  expect(await sick.doctor('--fix')).toMatchObject({ code: 0, ok: true })
  expect(readFileSync(config, 'utf8')).toContain('mail4agent')
})

test('a mailbox that hangs is named with its process, and its store is left alone', async () => {
  await using sick = await machine()
  process.kill(sick.pid, 'SIGSTOP')
  const diagnosis = await sick.doctor('--fix')
  process.kill(sick.pid, 'SIGCONT')
  expect(diagnosis).toMatchObject({ code: 1, fixed: [], unfixed: [] })
  expect(about(diagnosis, 'mailbox')).toMatchObject([
    { level: 'fail', what: expect.stringMatching(new RegExp(`^process ${sick.pid} holds .* does not answer`)) },
  ])
  expect(about(diagnosis, 'port')).toMatchObject([{ what: expect.stringContaining('the mailbox does not answer') }])
  expect(about(diagnosis, 'store')).toMatchObject([{ what: expect.stringContaining('not looked through') }])
  await expectClean(sick)
})

test('1: the port is taken by another program, which is named', async () => {
  await using sick = await machine()
  const before = sick.tree()
  await sick.end()
  const other = Bun.serve({ hostname: '127.0.0.1', port: sick.port, fetch: () => new Response('hello') })
  const diagnosis = await sick.doctor('--fix')
  expect(diagnosis).toMatchObject({ code: 1, ok: false, fixed: [] })
  expect(about(diagnosis, 'port')).toMatchObject([
    { level: 'fail', todo: expect.stringContaining('serve --port 0'), facts: { pid: process.pid } },
  ])
  expect(about(diagnosis, 'mailbox')).toMatchObject([{ level: 'fail' }])
  await expectGolden('doctor-port-taken', await sick.text())
  await other.stop(true)
  await expectMended(sick, before, 'the mailbox started in the background')
})

test('2: a mailbox that was killed left its socket and its note', async () => {
  await using sick = await machine()
  const before = sick.tree()
  await sick.end('SIGKILL')
  const diagnosis = await sick.doctor()
  expect(about(diagnosis, 'socket')).toMatchObject([{ level: 'warn', todo: `rm ${sick.data}/m4a.sock` }])
  expect(about(diagnosis, 'mailbox')).toMatchObject([{ level: 'fail', what: expect.stringContaining('has gone') }])
  await expectMended(sick, before, 'm4a.sock, which a mailbox that is gone had left', 'started in the background')
})

test('3: modes that let others in', async () => {
  await using sick = await machine()
  const before = sick.tree()
  const modes = { '.': 0o755, tokens: 0o755, 'operator.key': 0o644, 'tokens/codex': 0o640, 'mail.sqlite': 0o666 }
  for (const [name, mode] of Object.entries(modes)) chmodSync(join(sick.data, name), mode)
  chmodSync(join(sick.data, 'm4a.sock'), 0o666)
  const diagnosis = await sick.doctor()
  const [finding] = about(diagnosis, 'permissions')
  expect(finding?.level).toBe('fail')
  expect(finding?.todo).toStartWith(`chmod 700 ${sick.data} ${sick.data}/tokens && chmod 600 `)
  for (const name of ['operator.key', 'tokens/codex', 'mail.sqlite'])
    expect(finding?.todo).toContain(join(sick.data, name))
  await expectMended(sick, before, 'tokens/codex to others (0600)', `closed ${sick.data} to others (0700)`)
})

test('4: a configuration that cannot be understood stops a start, and says so', async () => {
  await using sick = await machine()
  const before = sick.tree()
  await sick.end()
  const config = join(sick.home, '.config', 'mail4agent', 'config.toml')
  mkdirSync(join(config, '..'), { recursive: true })
  for (const text of ['recognised_agents = [', 'recognized = true']) {
    writeFileSync(config, text)
    const diagnosis = await sick.doctor('--fix')
    expect(about(diagnosis, 'config')).toMatchObject([{ level: 'fail', what: expect.stringContaining(config) }])
    expect(diagnosis).toMatchObject({ code: 1, fixed: [] })
    expect(readFileSync(config, 'utf8')).toBe(text)
  }
  writeFileSync(config, 'allow_forwarders = true\n')
  for (const [name, is] of sick.tree()) if (name.startsWith('.config')) before.set(name, is)
  await expectMended(sick, before)
})

test('5: a store that a newer mail4agent wrote', async () => {
  await using sick = await machine()
  await sick.run(['admin', 'backup'])
  const before = sick.tree()
  await sick.end()
  const version = (value: number) => {
    const db = new Database(join(sick.data, 'mail.sqlite'))
    const [row] = db.query<{ user_version: number }, []>('PRAGMA user_version').all()
    db.run(`PRAGMA user_version = ${value}`)
    db.close()
    return row?.user_version ?? 0
  }
  const usual = version(9_999)
  const stopped = sick.tree()
  const diagnosis = await sick.doctor()
  expect(sick.tree()).toEqual(stopped)
  expect(about(diagnosis, 'store')).toMatchObject([
    { level: 'fail', what: expect.stringContaining('newer'), todo: expect.stringContaining('admin restore') },
  ])
  expect(await sick.doctor('--fix')).toMatchObject({
    code: 1,
    unfixed: [{ check: 'mailbox', reason: expect.stringContaining('schema 9999') }],
  })
  version(usual)
  await expectMended(sick, before, 'the mailbox started')
})

test('a store that is damaged is named, and the newest backup with it', async () => {
  await using sick = await machine()
  const { code } = await sick.run(['admin', 'backup'])
  expect(code).toBe(0)
  await sick.end()
  const path = join(sick.data, 'mail.sqlite')
  const bytes = readFileSync(path)
  writeFileSync(path, Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 7)]))
  const [finding] = about(await sick.doctor(), 'store')
  expect(finding).toMatchObject({ level: 'fail', what: expect.stringContaining('damaged') })
  const [, command = ''] = /(admin restore \S+)/.exec(finding?.todo ?? '') ?? []
  expect(await sick.run(command.split(' '))).toMatchObject({ code: 0 })
  expect(await sick.doctor('--fix')).toMatchObject({ code: 0, ok: true })
  await expectClean(sick)
})

const mount = (...words: string[]) => Bun.spawnSync(['mount', ...words]).success

/** A machine whose home is a small disk of its own; null where none can be mounted. */
function onSmallDisk(): { sick: SickMachine; [Symbol.asyncDispose](): Promise<void> } | null {
  const folder = tempFolder()
  if (!mount('-t', 'tmpfs', '-o', 'size=8m,mode=700', 'tmpfs', folder.path)) {
    if (process.env.CI) throw new Error('a small disk could not be mounted')
    folder[Symbol.dispose]()
    return null
  }
  const sick = new SickMachine(folder.path)
  return {
    sick,
    async [Symbol.asyncDispose]() {
      mount('-o', 'remount,rw', folder.path)
      if (existsSync(join(sick.data, 'daemon.json')) && runs(sick.pid)) await sick.end('SIGKILL')
      Bun.spawnSync(['umount', '-l', folder.path])
      folder[Symbol.dispose]()
    },
  }
}

test('6: a full disk', async () => {
  await using disk = onSmallDisk()
  if (disk === null) return
  const { sick } = disk
  await sick.up()
  const { bavail, bsize } = statfsSync(sick.home)
  writeFileSync(join(sick.home, 'fill'), Buffer.alloc(bavail * bsize))
  const diagnosis = await sick.doctor()
  expect(about(diagnosis, 'space')).toMatchObject([{ level: 'fail', todo: expect.stringContaining('df -h') }])
  expect(diagnosis.code).toBe(1)
  mount('-o', 'remount,size=256m', sick.home)
  for (let tries = 0; tries < 100 && wrong(await sick.doctor()).length > 0; tries++) await Bun.sleep(50)
  await expectClean(sick)
})

test('7: the runtime folder is gone, as after a logout, and the data folder of a fresh machine not there yet', async () => {
  await using sick = new SickMachine()
  const runtime = join(sick.home, 'run')
  mkdirSync(runtime, { mode: 0o700 })
  sick.env = { ...sick.env, XDG_RUNTIME_DIR: runtime }
  await sick.up()
  const before = sick.tree()
  await sick.end('SIGKILL')
  rmSync(runtime, { recursive: true })
  const diagnosis = await sick.doctor()
  expect(about(diagnosis, 'folders')).toMatchObject([
    { level: 'warn', what: expect.stringContaining(runtime), todo: `mkdir -p -m 700 ${runtime}/mail4agent` },
  ])
  await expectMended(sick, before, `made ${runtime}/mail4agent`, 'the mailbox started')

  await using fresh = new SickMachine()
  fresh.env = { ...fresh.env, XDG_DATA_HOME: join(fresh.home, 'data'), XDG_CONFIG_HOME: 'relative' }
  const first = about(await fresh.doctor(), 'folders').map(({ what }) => what)
  expect(first).toEqual([expect.stringContaining('XDG_CONFIG_HOME'), expect.stringContaining('is not there yet')])
  expect((await fresh.doctor('--fix')).fixed).toEqual([`made ${join(fresh.home, 'data', 'mail4agent')}`])
})

test('8: a home that is read-only', async () => {
  await using disk = onSmallDisk()
  if (disk === null) return
  const { sick } = disk
  mount('-o', 'remount,size=256m', sick.home)
  await sick.up()
  const before = sick.tree()
  await sick.end()
  mount('-o', 'remount,ro', sick.home)
  for (const options of [[], ['--fix']]) {
    const diagnosis = await sick.doctor(...options)
    expect(about(diagnosis, 'folders')).toMatchObject([
      { level: 'fail', what: expect.stringMatching(/read-only/i), todo: expect.stringContaining('--data-dir') },
    ])
    expect(diagnosis.code).toBe(1)
  }
  mount('-o', 'remount,rw', sick.home)
  await expectMended(sick, before, 'the mailbox started')
})

test('9: a token that was revoked; the command that is named makes a new one', async () => {
  await using sick = await machine()
  const answer = await fetch(`http://127.0.0.1:${sick.port}/admin/participant/rotate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sick.operatorKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'codex', digest: 'ab'.repeat(32) }),
  })
  expect(answer.status).toBe(200)
  const diagnosis = await sick.doctor()
  const [finding] = about(diagnosis, 'client codex')
  expect(finding).toMatchObject({ level: 'fail', what: expect.stringContaining('revoked') })
  expect(wrong(diagnosis)).toHaveLength(1)
  expect(finding?.todo).toEndWith('admin account rotate codex')
  expect((await sick.run(['admin', 'account', 'rotate', 'codex'])).code).toBe(0)
  await expectClean(sick)
})

test('10: a client configuration that was broken by hand', async () => {
  await using sick = await machine()
  const codex = join(sick.home, '.codex', 'config.toml')
  const gemini = join(sick.home, '.gemini', 'settings.json')
  const before = sick.tree()
  const [toml, json] = [readFileSync(codex, 'utf8'), readFileSync(gemini, 'utf8')]
  const { mcpServers, ...rest } = JSON.parse(json)

  writeFileSync(codex, toml.replace(/command = "[^"]*"/, 'command = "/gone/mail4agent"'))
  writeFileSync(gemini, JSON.stringify(rest, null, 2).concat('\n'))
  const diagnosis = await sick.doctor()
  expect(wrong(diagnosis)).toMatchObject([
    { check: 'client codex', what: 'the entry names /gone/mail4agent, which does not exist' },
    { check: 'client gemini', what: `our entry is gone from ${gemini}`, todo: expect.stringContaining('client add') },
  ])
  const mended = await sick.doctor('--fix')
  expect(mended).toMatchObject({
    code: 0,
    fixed: [`put our entry into ${codex} again`, `put our entry into ${gemini} again`],
  })
  expect(JSON.parse(readFileSync(gemini, 'utf8')).mcpServers).toEqual(mcpServers)
  await expectClean(sick)
  writeFileSync(gemini, json) // its members may stand in another order
  expect(sick.tree()).toEqual(before)

  writeFileSync(gemini, json.replace('"--as"', '"--account"'))
  expect(about(await sick.doctor(), 'client gemini')).toMatchObject([{ what: `our entry in ${gemini} was changed` }])
  await expectMended(sick, before, gemini)

  const torn = json.slice(0, json.length / 2)
  writeFileSync(gemini, torn)
  const unmendable = await sick.doctor('--fix')
  expect(wrong(unmendable)).toMatchObject([
    { level: 'fail', what: expect.stringMatching(/settings\.json, line \d+: /) },
  ])
  expect(unmendable).toMatchObject({ code: 1, fixed: [] })
  expect(readFileSync(gemini, 'utf8')).toBe(torn)
})

test('11: the clock jumps while the mailbox runs, and leaves letters in the future', async () => {
  const library = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketime.so.1`
  if (!havePackages([library], ['faketime'])) return
  await using sick = new SickMachine()
  await sick.up({ LD_PRELOAD: library, FAKETIME: '+3d', FAKETIME_DONT_FAKE_MONOTONIC: '1' })
  const diagnosis = await sick.doctor()
  expect(about(diagnosis, 'clock')).toMatchObject([
    { level: 'warn', what: expect.stringMatching(/set back by 2(58|59)\d{3} s/), todo: expect.stringContaining('ntp') },
  ])
  const future = { level: 'warn', what: expect.stringContaining('letters dated in the future: 2, until ') }
  await sick.end()
  expect(about(await sick.doctor(), 'store')).toMatchObject([{ level: 'ok' }, future])
  const restarted = await sick.doctor('--fix')
  expect(about(restarted, 'clock')).toMatchObject([{ level: 'ok' }])
  expect(wrong(restarted)).toMatchObject([future])
  expect(restarted).toMatchObject({ code: 0, ok: true })
})

test('12: two mailboxes on one data folder', async () => {
  await using sick = await machine()
  const before = sick.tree()
  const first = sick.pid
  unlinkSync(join(sick.data, 'lock'))
  expect(about(await sick.doctor(), 'mailbox')).toMatchObject([
    { level: 'fail', what: expect.stringContaining('lock') },
  ])
  // with the socket of the first one it would be refused although the lock is gone
  const second = Bun.spawn([BINARY, 'serve', '--port', '0', '--socket', join(sick.data, 'second.sock')], {
    env: { ...sick.env, M4A_SEND_SOCK: join(sick.data, 'second-send.sock') },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  for (let tries = 0; tries < 1_500 && sick.pid !== second.pid; tries++) await Bun.sleep(20)
  const diagnosis = await sick.doctor('--fix')
  expect(about(diagnosis, 'mailbox')).toMatchObject([
    {
      level: 'fail',
      what: expect.stringMatching(/^2 mailboxes run on /),
      todo: expect.stringContaining(`kill ${first}`),
      facts: {
        holders: expect.arrayContaining([
          expect.objectContaining({ pid: first }),
          expect.objectContaining({ pid: second.pid }),
        ]),
      },
    },
  ])
  expect(diagnosis).toMatchObject({ code: 1, fixed: [] })
  await sick.end('SIGTERM', first)
  second.kill('SIGTERM')
  await second.exited
  await expectMended(sick, before, 'the mailbox started in the background')
})
