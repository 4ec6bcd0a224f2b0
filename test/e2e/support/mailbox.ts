// The compiled mailbox as a process of its own, with a data folder of its own, and actors: processes that are sessions.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Actor, type Process } from './actor.ts'

export const BINARY = process.env.M4A_CLI_BIN ?? join(import.meta.dir, '..', '..', '..', 'dist', 'mail4agent')

export type Started = { port: number; socket: string }

/** One data folder; the daemon on it may be stopped, killed and started again. */
export class Mailbox {
  readonly root = mkdtempSync(join(tmpdir(), 'm4a-e2e-'))
  readonly data = join(this.root, 'data')
  readonly #actors: Actor[] = []
  #daemon: Bun.Subprocess | null = null
  port = 0

  static async start(environment: Record<string, string> = {}): Promise<Mailbox> {
    if (!existsSync(BINARY)) throw new Error('dist/mail4agent is missing: npm run build')
    const mailbox = new Mailbox()
    await mailbox.up(environment)
    return mailbox
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get socket(): string {
    return join(this.data, 'm4a.sock')
  }

  get daemon(): Bun.Subprocess {
    if (!this.#daemon) throw new Error('the daemon does not run')
    return this.#daemon
  }

  get runs(): boolean {
    return this.#daemon !== null && this.#daemon.exitCode === null && this.#daemon.signalCode === null
  }

  get operatorKey(): string {
    return readFileSync(join(this.data, 'operator.key'), 'utf8').trim()
  }

  /** Starts the daemon and waits until it serves. `M4A_RECOGNISED_AGENTS` is empty, so that it does not matter who runs the test. */
  async up(environment: Record<string, string> = {}, program = BINARY): Promise<void> {
    const daemon = Bun.spawn([program, 'serve', '--data-dir', this.data, '--port', String(this.port)], {
      env: { PATH: process.env.PATH ?? '', HOME: this.root, M4A_RECOGNISED_AGENTS: '', ...environment },
      stdin: 'ignore',
      stdout: Bun.file(join(this.root, 'stdout')),
      stderr: Bun.file(join(this.root, 'stderr')),
    })
    this.#daemon = daemon
    for (let tries = 0; tries < 600; tries++) {
      const known = this.#published(daemon.pid)
      const up = known ? await fetch(`http://127.0.0.1:${known}/health`).catch(() => null) : null
      if (up?.ok) {
        this.port = known
        return
      }
      if (daemon.exitCode !== null)
        throw new Error(`the daemon ended: ${readFileSync(join(this.root, 'stderr'), 'utf8')}`)
      await Bun.sleep(20)
    }
    throw new Error(`the daemon does not come up: ${readFileSync(join(this.root, 'stderr'), 'utf8')}`)
  }

  #published(pid: number): number {
    const file = join(this.data, 'daemon.json')
    if (!existsSync(file)) return 0
    try {
      const facts = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; port: number }
      return facts.pid === pid ? facts.port : 0
    } catch {
      return 0
    }
  }

  /** Ends the daemon; returns its exit code and how long it took in ms. */
  async down(signal: NodeJS.Signals = 'SIGTERM'): Promise<{ code: number; ms: number }> {
    const began = performance.now()
    this.daemon.kill(signal)
    const code = await this.daemon.exited
    this.#daemon = null
    return { code, ms: performance.now() - began }
  }

  /** A call of the operator by this very process. */
  async admin(route: string, request: object): Promise<Record<string, unknown>> {
    const answer = await this.post(`/admin/${route}`, this.operatorKey, request)
    if (answer.status !== 200) throw new Error(`${route}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  /** A plain POST by this very process. */
  async post(
    path: string,
    token: string,
    request: unknown,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const response = await fetch(this.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(request),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  /** Makes an account and gives its token. */
  async account(id: string, more: object = {}): Promise<string> {
    return String((await this.admin('participant', { id, ...more })).secret)
  }

  /** A process of its own that calls with `token`; it is a session of that account from its first call. */
  async actor(token: string, process: Process = {}): Promise<Actor> {
    const where = { token, port: this.port, socket: this.socket, data: this.data, root: this.root }
    const actor = await Actor.start(where, process)
    this.#actors.push(actor)
    return actor
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const actor of this.#actors) await actor.end()
    if (this.#daemon) {
      this.#daemon.kill('SIGKILL')
      await this.#daemon.exited
    }
    rmSync(this.root, { recursive: true, force: true })
  }
}
