// A HOME of its own that `mail4agent up` has set up for two clients, made sick by a test, and what the doctor says of it.
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { Finding } from '../../../src/install/doctor/finding.ts'
import { BINARY, finished, type Ran } from './cli-world.ts'

export type Diagnosis = {
  code: number
  ok: boolean
  findings: Finding[]
  mendable: number
  fixed: string[]
  unfixed: { check: string; reason: string }[]
}

export class SickMachine {
  readonly home: string
  readonly data: string
  readonly port = freePort()
  env: Record<string, string>

  /** `home`: a folder that is there already, such as a disk of its own. */
  constructor(home = mkdtempSync(join(realpathSync(tmpdir()), 'm4a-sick-'))) {
    this.home = home
    this.data = join(home, '.local', 'share', 'mail4agent')
    // no client is found by its program, and nobody is an agent, whoever runs the tests
    const usual = { PATH: '/nowhere', USER: 'pat', TZ: 'UTC', M4A_RECOGNISED_AGENTS: '' }
    this.env = { ...usual, HOME: home, M4A_PORT: String(this.port) }
    for (const name of ['.codex', '.gemini']) mkdirSync(join(home, name))
  }

  run(argv: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
    const options = {
      cwd: this.home,
      env: { ...this.env, ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    } as const
    return finished(Bun.spawn([BINARY, ...argv], options))
  }

  async up(env: Record<string, string> = {}): Promise<void> {
    const { code, err } = await this.run(['up', '--yes', '--no-service'], env)
    if (code !== 0) throw new Error(err)
  }

  async doctor(...options: string[]): Promise<Diagnosis> {
    const { code, out, err } = await this.run(['doctor', '--json', ...options])
    if (err !== '') throw new Error(err)
    return { code, ...JSON.parse(out) }
  }

  /** What people read, with what differs from run to run and from machine to machine replaced. */
  async text(...options: string[]): Promise<string> {
    const { out } = await this.run(['doctor', ...options])
    return out
      .replaceAll(realpathSync(BINARY), 'mail4agent')
      .replaceAll(this.home, '~')
      .replaceAll(String(this.port), 'PORT')
      .replaceAll(/process \d+/g, 'process PID')
      .replaceAll('(bun.exe)', '(bun)') // one program under two names
      .replaceAll(/\d+(\.\d+)? (KiB|MiB|GiB)/g, 'SIZE')
      .replaceAll(/linux \w+/g, 'linux ARCH')
      .replaceAll(/schema \d+/g, 'schema N')
      .replaceAll(/\d+ files/g, 'N files')
      .replaceAll(/(?<=service {7}).*/g, 'SERVICE')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
  }

  /** The pid of the mailbox that runs. */
  get pid(): number {
    return JSON.parse(readFileSync(join(this.data, 'daemon.json'), 'utf8')).pid
  }

  get operatorKey(): string {
    return readFileSync(join(this.data, 'operator.key'), 'utf8').trim()
  }

  async end(signal: NodeJS.Signals = 'SIGTERM', pid = this.pid): Promise<void> {
    process.kill(pid, signal)
    for (let tries = 0; runs(pid) && tries < 500; tries++) await Bun.sleep(20)
    if (runs(pid)) throw new Error(`process ${pid} does not end`)
  }

  /** Every file with its mode and content; of what a mailbox writes while it runs, the mode alone. */
  tree(): Map<string, string> {
    const seen = new Map<string, string>()
    for (const entry of readdirSync(this.home, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      const mode = (lstatSync(path).mode & 0o7777).toString(8)
      const isLive = /\.sqlite|^lock|daemon\.json|serve\.log|installed\.json/.test(entry.name)
      const content = entry.isFile() && !isLive ? createHash('sha256').update(readFileSync(path)).digest('hex') : ''
      seen.set(relative(this.home, path), `${mode} ${content}`)
    }
    return seen
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (existsSync(join(this.data, 'daemon.json')) && runs(this.pid)) await this.end('SIGKILL')
    rmSync(this.home, { recursive: true, force: true })
  }
}

/** A zombie that nobody has waited for has ended. */
export function runs(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}

function freePort(): number {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const { port } = server
  server.stop(true)
  return port ?? 0
}
