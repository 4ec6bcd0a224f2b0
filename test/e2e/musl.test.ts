// The binary for musl, on this machine: it proves itself, and withstands the attacks that the glibc one withstands.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { passNested } from './support/nested.ts'
import { havePackages } from './support/packages.ts'

const ROOT = join(import.meta.dir, '..', '..')
const BINARY = join(ROOT, 'dist', 'mail4agent-linux-x64-musl')
const GLIBC = '/usr/lib/x86_64-linux-gnu'
const LIBRARIES = ['libstdc++.so.6', 'libgcc_s.so.1']

const runs =
  process.platform === 'linux' &&
  process.arch === 'x64' &&
  havePackages(
    ['/lib/ld-musl-x86_64.so.1', '/usr/bin/gcc', ...LIBRARIES.map((name) => join(GLIBC, name))],
    ['musl', 'gcc', 'libstdc++6', 'libgcc-s1'],
  )

/** The C++ library, which Alpine has as a package of its own, and what it wants of glibc under the name by which it asks. */
const folder = mkdtempSync(join(tmpdir(), 'm4a-musl-'))

beforeAll(() => {
  if (!runs) return
  chmodSync(folder, 0o755) // the daemons of other users load it too
  for (const name of LIBRARIES) copyFileSync(join(GLIBC, name), join(folder, name))
  const shim = join(folder, 'ld-linux-x86-64.so.2')
  run(['gcc', '-shared', '-nostdlib', '-fPIC', '-O2', '-o', shim, join(import.meta.dir, 'support/musl-shim.c')])
  run(['node', 'src/bun.mjs', 'run', 'build.ts', 'linux-x64-musl'])
}, 300_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function run(command: string[]) {
  const ran = Bun.spawnSync(command, { cwd: ROOT, timeout: 280_000 })
  if (!ran.success) throw new Error(`${command.join(' ')}: ${ran.stdout}${ran.stderr}`)
}

describe.if(runs)('musl', () => {
  test('the mailbox proves itself, and a command over its socket', async () => {
    const data = join(folder, 'data')
    const env = { ...process.env, LD_LIBRARY_PATH: folder, M4A_RECOGNISED_AGENTS: '' }
    const command = [BINARY, 'serve', '--port', '0', '--data-dir', data]
    const daemon = Bun.spawn(command, { env, stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    for await (const chunk of daemon.stdout) {
      said += new TextDecoder().decode(chunk)
      if (said.includes('stops it')) break
    }
    expect(said).not.toContain('refuses mail')
    const whoami = Bun.spawn([BINARY, '--json', '--data-dir', data, 'whoami'], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const { card } = JSON.parse(await new Response(whoami.stdout).text())
    expect(card.attested).toMatchObject({ uid: process.geteuid?.() })
    daemon.kill('SIGTERM')
    expect(await daemon.exited).toBe(0)
  }, 60_000)

  test('the attacks', () => {
    const env = { M4A_TEST_DAEMON: BINARY, M4A_TEST_LIBRARIES: folder }
    passNested([join(import.meta.dir, 'attest-attacks.test.ts')], env)
  }, 300_000)
})
