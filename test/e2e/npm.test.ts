// The npm packages of a release, packed and installed as npm does it without scripts: the launcher is as good as the program.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wrapperManifest } from '../../src/install/release/npm-packages.ts'
import { TARGETS } from '../../src/install/release/targets.ts'

const ROOT = join(import.meta.dir, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'm4a-npm-'))
const home = join(folder, 'home')
const NAME = `linux-${process.arch}`
const launcher = join(folder, 'app', 'node_modules', '.bin', 'mail4agent')

const env = (more: Record<string, string> = {}) => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  M4A_RECOGNISED_AGENTS: '',
  npm_config_cache: join(folder, 'cache'),
  ...more,
})

function must(command: string[], cwd: string): string {
  const ran = Bun.spawnSync(command, { cwd, env: env(), timeout: 280_000 })
  if (!ran.success) throw new Error(`${command.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran.stdout.toString()
}

beforeAll(() => {
  mkdirSync(join(folder, 'app'), { recursive: true })
  mkdirSync(home)
  must([process.execPath, 'run', join(ROOT, 'build.ts'), 'release', NAME], folder)
  writeFileSync(join(folder, 'app', 'package.json'), '{}')
  const packages = ['mail4agent', NAME].map((name) => join(folder, 'dist', 'npm', name))
  for (const path of packages) must(['npm', 'pack', '--pack-destination', folder, path], folder)
  const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  const options = ['--ignore-scripts', '--offline', '--no-audit', '--no-fund', '--omit=optional']
  must(['npm', 'install', ...options, ...tarballs.map((name) => join(folder, name))], join(folder, 'app'))
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const spawn = (words: string[], more: Record<string, string> = {}) =>
  Bun.spawn([launcher, ...words], { cwd: folder, env: env(more), stdio: ['ignore', 'pipe', 'pipe'] })
const run = async (words: string[], more: Record<string, string> = {}) => {
  const child = spawn(words, more)
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err }
}
const serve = async () => {
  const child = spawn(['serve', '--port', '0'])
  let said = ''
  for await (const chunk of child.stdout) {
    said += new TextDecoder().decode(chunk)
    if (said.includes('stops it')) break
  }
  const { pid } = JSON.parse(readFileSync(join(home, '.local/share/mail4agent/daemon.json'), 'utf8'))
  return { child, pid: Number(pid), said }
}

test('a system whose runtime cannot be fetched is named, and no trace of it is left', () => {
  const other = join(folder, 'offline')
  mkdirSync(other)
  const foreign = process.arch === 'arm64' ? 'linux-x64' : 'linux-arm64'
  const words = [process.execPath, 'run', join(ROOT, 'build.ts'), 'release', foreign]
  const ran = Bun.spawnSync(['unshare', '--net', ...words], { cwd: other, env: { ...env(), HOME: other } })
  expect(ran.exitCode).toBe(1)
  expect(ran.stderr.toString()).toContain(`${foreign} failed: `)
  expect(ran.stderr.toString()).toEndWith(`not built: ${foreign}\n`)
  expect(readdirSync(join(other, 'dist', 'npm'))).toEqual(['mail4agent'])
})

test('it has no scripts, and each platform package is for one system alone', () => {
  const wrapper = JSON.parse(readFileSync(join(folder, 'dist/npm/mail4agent/package.json'), 'utf8'))
  expect(wrapper).toEqual(wrapperManifest(TARGETS, wrapper.version))
  expect(wrapper).not.toHaveProperty('scripts')
  expect(Object.keys(wrapper.optionalDependencies)).toHaveLength(TARGETS.length)
  const platform = JSON.parse(readFileSync(join(folder, `dist/npm/${NAME}/package.json`), 'utf8'))
  expect(platform).toMatchObject({ name: `@mail4agent/${NAME}`, os: ['linux'], cpu: [process.arch], libc: ['glibc'] })
  expect(platform).not.toHaveProperty('scripts')
})

test('npx finds it; output, input and exit codes are those of the program', async () => {
  const npx = must(['npx', '--no', 'mail4agent', 'version'], join(folder, 'app'))
  expect(npx).toMatch(/^mail4agent \d/)
  expect((await run(['--version'])).out).toBe(npx)
  expect(await run(['nonsense'])).toMatchObject({ code: 2, out: '' })
  expect(await run(['status'])).toMatchObject({ code: 3 })
}, 60_000)

test('a signal to the launcher ends the mailbox in order, and both are gone', async () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const { child, pid } = await serve()
    child.kill(signal)
    expect(await child.exited).toBe(0)
    expect(existsSync(`/proc/${pid}`)).toBe(false)
    expect(existsSync(join(home, '.local/share/mail4agent/daemon.json'))).toBe(false)
  }
}, 60_000)

test('Ctrl-C in a terminal ends the mailbox in order', async () => {
  const script = `import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0: os.execv(sys.argv[1], [sys.argv[1], 'serve', '--port', '0'])
seen = b''
while b'stops it' not in seen: seen += os.read(fd, 4096)
os.write(fd, b'\\x03')
try:
  while True: os.read(fd, 4096)
except OSError: pass
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`
  const child = Bun.spawn(['python3', '-c', script, launcher], { env: env(), stdio: ['ignore', 'pipe', 'inherit'] })
  expect((await new Response(child.stdout).text()).trim()).toBe('0')
  expect(existsSync(join(home, '.local/share/mail4agent/daemon.json'))).toBe(false)
}, 60_000)

test('a program that a signal ends is seen to have ended so', async () => {
  const { child, pid } = await serve()
  process.kill(pid, 'SIGKILL')
  await child.exited
  expect(child.signalCode).toBe('SIGKILL')
  rmSync(join(home, '.local/share/mail4agent/daemon.json'), { force: true })
}, 60_000)

test('the mailbox knows its callers through the launcher, as their own processes', async () => {
  const { child, said } = await serve()
  expect(said).not.toContain('refuses mail')
  const { out } = await run(['whoami', '--json', '--as', 'operator'])
  expect(JSON.parse(out).card.attested.uid).toBe(process.getuid?.())
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
}, 60_000)

test('it does not replace what npm has installed', async () => {
  const { code, err } = await run(['upgrade', '--from', join(ROOT, 'dist', 'mail4agent')])
  expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('npm install mail4agent@latest') })
})

test('without the package for this system it says what to do', async () => {
  const installed = join(folder, 'app', 'node_modules', '@mail4agent', NAME)
  expect(statSync(join(installed, 'bin', 'mail4agent')).mode & 0o111).not.toBe(0)
  rmSync(installed, { recursive: true })
  const { code, out, err } = await run(['version'])
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toContain(`the package @mail4agent/${NAME} is not installed`)
  expect(err).toContain(`npm install @mail4agent/${NAME}@`)
})
