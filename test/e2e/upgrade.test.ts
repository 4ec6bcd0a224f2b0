// mail4agent upgrade on real programs: another version in the place of one that runs, refused, rolled back, or ended by force.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VERSION } from '../../src/door/version.ts'
import { tarGz } from '../../src/install/release/archive.ts'
import { sha256 } from '../../src/install/release/checksums.ts'
import { KNOWN_SCHEMA } from '../../src/store/schema.ts'
import { BINARY, CliWorld } from './support/cli-world.ts'
import { buildVariant } from './support/variant.ts'

const folder = mkdtempSync(join(tmpdir(), 'm4a-upgrade-'))
chmodSync(folder, 0o755)
const OURS = VERSION
let newer: string
let older: string
let broken: string
let plain: string

beforeAll(() => {
  plain = buildVariant(folder, { version: '0.1.1' })
  newer = buildVariant(folder, { version: '0.2.0', schema: 1 })
  older = buildVariant(folder, { version: '0.0.9', schema: -1 })
  broken = buildVariant(folder, { version: '0.3.0', schema: 1, broken: true })
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let world: CliWorld
let program: string
beforeEach(() => {
  world = new CliWorld()
  mkdirSync(join(world.home, 'bin'))
  program = join(world.home, 'bin', 'mail4agent')
  copyFileSync(BINARY, program)
})
afterEach(async () => {
  const { out } = await run('down', '--yes')
  if (existsSync(join(world.dataDir, 'daemon.json'))) throw new Error(`a mailbox is left: ${out}`)
  await world[Symbol.asyncDispose]()
})

const run = async (...words: string[]) => {
  const child = world.spawn([program, ...words], { env: { USER: 'pat' } })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err }
}
const upgrade = (...words: string[]) => run('upgrade', '--json', ...words)
const version = async (path = program): Promise<string> =>
  JSON.parse(await new Response(Bun.spawn([path, 'version', '--json'], { env: {} }).stdout).text()).version
const daemon = (): { pid: number; port: number; version: string } =>
  JSON.parse(readFileSync(join(world.dataDir, 'daemon.json'), 'utf8'))
const health = async (): Promise<{ version: string; ok: boolean }> =>
  (await fetch(`http://127.0.0.1:${daemon().port}/health`)).json() as Promise<{ version: string; ok: boolean }>
const up = async () => {
  const { code, err } = await run('up', '--yes', '--no-service', '--port', '0')
  expect({ code, err }).toEqual({ code: 0, err: expect.any(String) })
}
const digest = () => sha256(readFileSync(program))
const refusal = ({ code, out, err }: { code: number; out: string; err: string }) => {
  expect({ code, out }).toMatchObject({ out: '' })
  return { code, ...JSON.parse(err) }
}
const onlyPrograms = () =>
  expect(readdirSync(join(world.home, 'bin')).filter((name) => name.startsWith('.'))).toEqual([])

describe('with the mailbox that up has started', () => {
  let sent: string
  beforeEach(async () => {
    await up()
    const { out, err } = await run('--as', 'pat', 'send', 'pat', 'kept', 'over the upgrade', '--json')
    if (!out) throw new Error(err)
    sent = JSON.parse(out).message_id
  })
  test('an archive from another file system: checked, swapped, restarted on the same port, the mail still there', async () => {
    const before = daemon()
    const shelf = mkdtempSync('/dev/shm/m4a-upgrade-')
    try {
      const archive = join(shelf, 'mail4agent-0.2.0-linux-x64.tar.gz')
      const entries = [{ name: 'mail4agent-0.2.0-linux-x64/mail4agent', bytes: readFileSync(newer), mode: 0o755 }]
      const bytes = tarGz(entries)
      writeFileSync(archive, bytes)
      writeFileSync(join(shelf, 'SHA256SUMS'), `${sha256(bytes)}  mail4agent-0.2.0-linux-x64.tar.gz\n`)

      const dry = await upgrade('--from', archive, '--dry-run')
      expect(JSON.parse(dry.out)).toMatchObject({ after: '0.2.0', swap: true, dry_run: true, checksum: 'matches' })
      expect(daemon()).toEqual(before)
      expect(await version()).toBe(OURS)
      expect(existsSync(`${program}.previous`)).toBe(false)

      const done = await upgrade('--from', archive)
      expect(done.code).toBe(0)
      expect(JSON.parse(done.out)).toMatchObject({
        before: OURS,
        after: '0.2.0',
        restart: 'background',
        checksum: 'matches',
      })
    } finally {
      rmSync(shelf, { recursive: true })
    }
    expect(await version()).toBe('0.2.0')
    expect(await version(`${program}.previous`)).toBe(OURS)
    expect(await health()).toMatchObject({ ok: true, version: '0.2.0' })
    expect(daemon()).toMatchObject({ port: before.port, version: '0.2.0' })
    expect(daemon().pid).not.toBe(before.pid)
    expect((await run('--as', 'pat', 'sent', '--json')).out).toContain(sent)
    const again = JSON.parse((await upgrade('--from', newer)).out)
    expect(again).toMatchObject({ swap: false, restart: 'not needed' })
    // back to the program from before, which could not open this store
    const back = refusal(await upgrade('--from', `${program}.previous`))
    expect(back).toMatchObject({ code: 1, kind: 'newer_store', found: KNOWN_SCHEMA + 1, known: KNOWN_SCHEMA })
    onlyPrograms()
  }, 60_000)

  test('a program that knows an older schema is refused by name, and nothing changes', async () => {
    const [before, was] = [daemon(), digest()]
    expect(refusal(await upgrade('--from', older))).toMatchObject({
      kind: 'newer_store',
      hint: expect.stringContaining('nothing was changed'),
    })
    expect(daemon()).toEqual(before)
    expect(digest()).toBe(was)
    onlyPrograms()
  }, 30_000)

  test('one that does not come up is taken back, with the store that it had changed already', async () => {
    const [before, was] = [daemon(), digest()]
    copyFileSync(older, `${program}.previous`)
    const failed = refusal(await upgrade('--from', broken))
    expect(failed).toMatchObject({ code: 1, kind: 'upgrade_failed' })
    expect(failed.message).toContain('broken on purpose')
    expect(failed.hint).toContain(join(world.dataDir, 'serve.log'))
    expect(readFileSync(`${program}.previous`).equals(readFileSync(older))).toBe(true)
    expect(failed.message).toContain(`${OURS} is back in its place and runs`)
    expect(digest()).toBe(was)
    expect(await health()).toMatchObject({ ok: true, version: OURS })
    expect(daemon().port).toBe(before.port)
    expect((await run('--as', 'pat', 'sent', '--json')).out).toContain(sent)
    onlyPrograms()
  }, 60_000)

  test('an agent does not restart the mailbox', async () => {
    const { code, err } = await world.asAgent(`'${program}' upgrade --json --from '${newer}'`)
    expect({ code, ...JSON.parse(err) }).toMatchObject({ code: 1, kind: 'agent_ancestor' })
    expect(await version()).toBe(OURS)
  }, 30_000)

  test('ended by force at any moment, the program is the old one or the new one, and the next try completes it', async () => {
    const { port } = daemon()
    const digests = [sha256(readFileSync(BINARY)), sha256(readFileSync(plain))]
    const seen = new Set<string>()
    // milliseconds after its start, or after the old program got its second name
    const moments = [
      ...[100, 400, 700].map((ms) => ({ ms, after: 'start' })),
      ...[0, 2, 20, 100, 200, 300, 450].map((ms) => ({ ms, after: 'kept' })),
    ]
    for (const { ms, after } of moments) {
      copyFileSync(BINARY, join(world.home, 'again'))
      renameSync(join(world.home, 'again'), program)
      rmSync(`${program}.previous`, { force: true })
      const child = world.spawn([program, 'upgrade', '--from', plain])
      while (after === 'kept' && !existsSync(`${program}.previous`)) await Bun.sleep(1)
      await Bun.sleep(ms)
      child.kill('SIGKILL')
      await child.exited
      expect(digests).toContain(digest())
      seen.add(await version())
    }
    expect([OURS, '0.1.1'].filter((one) => !seen.has(one))).toEqual([]) // it was ended before and after
    const done = await upgrade('--from', plain)
    expect({ code: done.code, err: done.err }).toEqual({ code: 0, err: '' })
    expect(await version()).toBe('0.1.1')
    expect(daemon().port).toBe(port)
    expect(await health()).toMatchObject({ ok: true, version: '0.1.1' })
    expect((await run('--as', 'pat', 'sent', '--json')).out).toContain(sent)
  }, 90_000)
})

test('what is no program for this system is refused by name, and nothing changes', async () => {
  const was = digest()
  const file = (name: string, bytes: Uint8Array | string) => {
    const path = join(world.home, name)
    writeFileSync(path, bytes)
    return path
  }
  const foreign = Buffer.from(readFileSync(plain).subarray(0, 4096))
  foreign.writeUInt16LE(0xb7, 18) // e_machine: AArch64, elf(5)
  const archive = tarGz([{ name: 'x/mail4agent', bytes: readFileSync(plain).subarray(0, 1000), mode: 0o755 }])
  const cases: [string, string, string][] = [
    [file('text', 'hello'), 'unfit_program', 'text'],
    [file('foreign', foreign), 'unfit_program', 'does not run on this system'],
    ['/usr/bin/true', 'unfit_program', 'is no mail4agent'],
    [file('cut.tar.gz', archive.subarray(0, archive.length - 20)), 'unfit_program', 'cannot be unpacked'],
    [
      file('empty.tar.gz', tarGz([{ name: 'README.md', bytes: Buffer.from('x'), mode: 0o644 }])),
      'unfit_program',
      'there is no mail4agent in',
    ],
    [join(world.home, 'none'), 'usage', 'there is no '],
  ]
  for (const [path, kind, message] of cases) {
    const refused = refusal(await upgrade('--from', path))
    expect(refused).toMatchObject({ kind })
    expect(refused.message).toContain(message)
  }
  mkdirSync(join(world.home, 'shelf'))
  copyFileSync(plain, join(world.home, 'shelf', 'new'))
  writeFileSync(join(world.home, 'shelf', 'SHA256SUMS'), `${'0'.repeat(64)}  new\n`)
  expect(refusal(await upgrade('--from', join(world.home, 'shelf', 'new'))).message).toContain('is not what')
  expect(digest()).toBe(was)
  expect(existsSync(`${program}.previous`)).toBe(false)
  onlyPrograms()
}, 60_000)

test('without a mailbox and without a store it is only swapped', async () => {
  const { code, out } = await upgrade('--from', older)
  expect({ code, ...JSON.parse(out) }).toMatchObject({
    code: 0,
    restart: 'not running',
    after: '0.0.9',
    store_schema: null,
  })
  expect(await version()).toBe('0.0.9')
}, 30_000)

test('a mailbox that somebody runs by hand is left to them', async () => {
  const hand = await world.serve()
  const { out } = await run('upgrade', '--from', plain)
  expect(out).toContain('restart it yourself')
  expect(await health()).toMatchObject({ version: OURS })
  await hand.stop()
}, 30_000)

test('a folder that this user may not write in is named', async () => {
  if (process.getuid?.() !== 0) throw new Error('run this as root')
  chmodSync(world.home, 0o755)
  const as = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups']
  const child = world.spawn([...as, program, 'upgrade', '--json', '--from', plain], {
    cwd: '/',
    env: { HOME: '/nonexistent', M4A_DATA_DIR: '/tmp/m4a-none' },
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect(refusal({ code: await child.exited, out, err })).toMatchObject({
    code: 1,
    kind: 'bad_permissions',
    hint: expect.stringContaining('to whom the program belongs'),
  })
}, 30_000)
