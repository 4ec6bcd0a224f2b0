// What service managers are given, read by the programs that know it: systemd's own checks, a plist parser, an XML parser.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Launchd } from '../../src/install/service/launchd.ts'
import { systemUnit, userUnit } from '../../src/install/service/systemd-unit.ts'
import { taskText } from '../../src/install/service/task.ts'
import type { ServiceTarget } from '../../src/install/service-step.ts'
import { tempFolder } from '../support/temp.ts'
import { BINARY } from './support/mailbox.ts'

/** Odd, and all allowed in a path. */
const ODD = `/home/pat/a "b" $c %d & <e> 'f' \\g`

const target = (more: Partial<ServiceTarget> = {}): ServiceTarget => ({
  us: { program: [BINARY], place: [] },
  dataDir: ODD,
  home: '/home/pat',
  env: { PATH: `/usr/bin:${ODD}` },
  port: null,
  socket: null,
  user: 'pat',
  ...more,
})

let place: ReturnType<typeof tempFolder>
beforeAll(() => {
  place = tempFolder()
})
afterAll(() => place[Symbol.dispose]())

/** What a program printed on both of its outputs; it has to end well. */
function output(...words: string[]): string {
  const env = { PATH: process.env.PATH ?? '', HOME: place.path, XDG_RUNTIME_DIR: place.path, SYSTEMD_COLORS: '0' }
  const { stdout, stderr, exitCode } = Bun.spawnSync(words, { env })
  if (exitCode !== 0) throw new Error(`${words.join(' ')}: ${exitCode}\n${stdout}${stderr}`)
  return `${stdout}${stderr}`
}

function unitFile(name: string, text: string): string {
  mkdirSync(join(place.path, 'units'), { recursive: true })
  const path = join(place.path, 'units', name)
  writeFileSync(path, text)
  return path
}

describe('systemd', () => {
  const units = () => [
    { path: unitFile('mail4agent.service', userUnit(target())), scope: ['--user'], most: 6.3 },
    { path: unitFile('mail4agent@.service', systemUnit(target())), scope: [], most: 2 },
  ]

  test('systemd-analyze finds nothing wrong with the units', () => {
    for (const { path, scope } of units()) expect(output('systemd-analyze', ...scope, 'verify', path)).toBe('')
  })

  test('their exposure does not grow', () => {
    for (const { path, scope, most } of units()) {
      const [, level] = /level for \S+: ([\d.]+)/.exec(
        output('systemd-analyze', ...scope, 'security', '--offline=true', path),
      ) ?? ['', '99']
      expect(Number(level)).toBeLessThanOrEqual(most)
    }
  })

  test('the mailbox makes no system call that the unit refuses', async () => {
    const allowed = allowedCalls(userUnit(target()))
    expect(allowed).toContain('pidfd_open')
    const log = join(place.path, 'calls')
    const traced = [
      'strace',
      '-f',
      '-qq',
      '-o',
      log,
      BINARY,
      'serve',
      '--port',
      '0',
      '--data-dir',
      join(place.path, 'data'),
    ]
    const env = { PATH: process.env.PATH ?? '', HOME: place.path, M4A_RECOGNISED_AGENTS: '' }
    const daemon = Bun.spawn(traced, { env, stdio: ['ignore', 'pipe', 'ignore'] })
    const reader = daemon.stdout.getReader()
    await reader.read()
    const m4a = (...words: string[]) =>
      Bun.spawn([BINARY, '--data-dir', join(place.path, 'data'), ...words], { env }).exited
    expect(await m4a('admin', 'account', 'add', 'claude')).toBe(0)
    expect(await m4a('send', 'claude', 'a', 'b', '--as', 'operator')).toBe(0)
    expect(await m4a('inbox', '--as', 'claude')).toBe(0)
    // strace hands the signal on to nobody: the traced process is its child
    const [pid = ''] = /^\d+/.exec(readFileSync(log, 'utf8')) ?? []
    process.kill(Number(pid), 'SIGTERM')
    expect(await daemon.exited).toBe(0)
    const made = new Set([...readFileSync(log, 'utf8').matchAll(/^\d+ +(\w+)\(/gm)].map(([, name]) => name ?? ''))
    expect(made.size).toBeGreaterThan(30)
    // of root alone: SQLite gives a journal the owner of its database, and does not mind when it may not
    allowed.add('fchown')
    expect([...made].filter((name) => !allowed.has(name))).toEqual([])
  }, 60_000)
})

/** The names that SystemCallFilter= leaves, sets taken apart by systemd itself: systemd.exec(5). */
function allowedCalls(unit: string): Set<string> {
  const known = output('systemd-analyze', '--no-pager', 'syscall-filter')
  const sets = new Map<string, string[]>()
  for (const block of known.split('\n\n')) {
    const [name = '', ...lines] = block.trim().split('\n')
    sets.set(
      name,
      lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#')),
    )
  }
  const calls = (name: string): string[] =>
    (sets.get(name) ?? [name]).flatMap((one) => (one === name ? [one] : calls(one)))
  const allowed = new Set(['execve', 'exit', 'exit_group', 'rt_sigreturn'])
  for (const [, refuses, name = ''] of unit.matchAll(/^SystemCallFilter=(~?)(\S+)$/gm))
    for (const call of calls(name)) refuses ? allowed.delete(call) : allowed.add(call)
  return allowed
}

test('a plist parser reads the jobs of launchd as they are meant', () => {
  for (const scope of ['user', 'system'] as const) {
    const [{ path = '', text = '' } = { path: '', text: '' }] = new Launchd(scope).describe(
      target({ socket: '/tmp/s' }),
    )
    writeFileSync(join(place.path, 'job.plist'), text)
    const read = 'import json,plistlib,sys;print(json.dumps(plistlib.load(open(sys.argv[1],"rb"))))'
    const job = JSON.parse(output('python3', '-c', read, join(place.path, 'job.plist')))
    expect(path).toEndWith(`/${job.Label}.plist`)
    expect(job).toMatchObject({
      ProgramArguments: [BINARY, 'serve', '--service', 'launchd', '--data-dir', ODD, '--socket', '/tmp/s'],
      EnvironmentVariables: { PATH: `/usr/bin:${ODD}` },
      KeepAlive: { SuccessfulExit: false },
      RunAtLoad: true,
      AbandonProcessGroup: true,
      Umask: 0o77,
      StandardErrorPath: join(ODD, 'serve.log'),
    })
    expect(job.UserName).toBe(scope === 'system' ? 'pat' : undefined)
  }
})

test('an XML parser reads the task of Windows as it is meant', () => {
  const text = taskText(target({ user: 'DESK\\pat', dataDir: 'C:\\Users\\pat & co\\m' }), 'user')
  const path = join(place.path, 'task.xml')
  writeFileSync(path, `\ufeff${text}`, 'utf16le')
  const read = `import json,sys,xml.etree.ElementTree as t
n='{http://schemas.microsoft.com/windows/2004/02/mit/task}'
print(json.dumps({e.tag.removeprefix(n): e.text for e in t.parse(sys.argv[1]).iter() if not len(e)}))`
  expect(JSON.parse(output('python3', '-c', read, path))).toMatchObject({
    UserId: 'DESK\\pat',
    LogonType: 'InteractiveToken',
    ExecutionTimeLimit: 'PT0S',
    Command: 'conhost.exe',
    Arguments: `--headless ${BINARY} serve --service windows --data-dir "C:\\Users\\pat & co\\m"`,
  })
})
