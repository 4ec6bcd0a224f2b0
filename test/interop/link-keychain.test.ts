// The master key of a vault in a real Secret Service: gnome-keyring on a D-Bus session of its own.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from './link-machines.ts'

const root = mkdtempSync(join(tmpdir(), 'm4a-keyring-'))
const env: Record<string, string> = { PATH: process.env.PATH ?? '', HOME: root, XDG_RUNTIME_DIR: join(root, 'run') }
const script = join(import.meta.dir, 'keychain-process.ts')
let bus: Bun.Subprocess<'ignore', 'pipe', 'ignore'>
let keyring: Bun.Subprocess | null = null

async function unlock(): Promise<void> {
  const argv = ['gnome-keyring-daemon', '--foreground', '--components=secrets', '--unlock']
  keyring = Bun.spawn(argv, { env, stdin: new Blob(['a password']), stdout: 'ignore', stderr: 'ignore' })
  await until('the service', async () => {
    const owner = [
      '--session',
      '--dest=org.freedesktop.DBus',
      '--print-reply',
      '/',
      'org.freedesktop.DBus.NameHasOwner',
    ]
    const asked = Bun.spawnSync(['dbus-send', ...owner, 'string:org.freedesktop.secrets'], { env, stderr: 'ignore' })
    return asked.stdout.toString().includes('true')
  })
}

async function lock(): Promise<void> {
  keyring?.kill()
  await keyring?.exited
  keyring = null
}

beforeAll(async () => {
  for (const name of ['run', 'data']) mkdirSync(join(root, name), { mode: 0o700 })
  const argv = ['dbus-daemon', '--session', '--nofork', '--print-address', `--address=unix:path=${root}/run/bus`]
  bus = Bun.spawn(argv, { env, stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' })
  const { value } = await bus.stdout.getReader().read()
  env.DBUS_SESSION_BUS_ADDRESS = Buffer.from(value ?? [])
    .toString()
    .trim()
  await unlock()
}, 60_000)

afterAll(async () => {
  await lock()
  bus?.kill()
  await bus?.exited
  rmSync(root, { recursive: true, force: true })
})

const vault = (order: string) => {
  const done = Bun.spawnSync([process.execPath, script, join(root, 'data'), order], { env, stderr: 'pipe' })
  return done.stdout.toString().trim() || done.stderr.toString()
}

test('the key lies in the keychain and nowhere else, outlives its daemon, and is given away again', async () => {
  expect(vault('make')).toBe('made')
  expect(vault('open')).toBe('xyzzy')
  const files = () => readdirSync(join(root, 'data'))
  expect(files().filter((name) => name.endsWith('.key'))).toEqual([])
  const { holder } = JSON.parse(readFileSync(join(root, 'data', 'vault.json'), 'utf8'))
  expect(holder.kind).toBe('keychain')
  const lookup = () =>
    Bun.spawnSync(['secret-tool', 'lookup', 'service', 'mail4agent vault', 'id', holder.id], { env }).stdout.toString()
  expect(Buffer.from(lookup(), 'base64')).toHaveLength(32)
  await lock()
  await unlock()
  expect(vault('open')).toBe('xyzzy')
  expect(vault('to file')).toBe('file')
  expect(lookup()).toBe('')
  expect(files().filter((name) => name.endsWith('.key'))).toHaveLength(1)
}, 120_000)

test('a keychain that is gone is said by name, and nothing takes its place', async () => {
  expect(vault('to keychain')).toBe('keychain')
  await lock()
  const away = Bun.spawnSync([process.execPath, script, join(root, 'data'), 'open'], {
    env: { ...env, DBUS_SESSION_BUS_ADDRESS: `unix:path=${root}/run/none` },
  })
  expect(away.stdout.toString().trim()).toBe('vault_key_missing')
}, 60_000)
