// A supervisor on a real store with real processes: the attendant from source, a stand-in for the agent, a door of a few lines.
import { existsSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ADMINISTER } from '../../../../src/engine/admin/admin.ts'
import { digestOf } from '../../../../src/engine/admin/secret.ts'
import { run } from '../../../../src/engine/engine.ts'
import type { Caller } from '../../../../src/engine/mail.ts'
import type { DispatchRow } from '../../../../src/store/dispatch/rows.ts'
import { everyProcess, wasStartedWith } from '../../../../src/wake/dispatch/proc.ts'
import { Supervisor } from '../../../../src/wake/dispatch/supervisor.ts'
import type { AgentAdd, Attempt, Dispatch } from '../../../../src/wire/dispatch.ts'
import { Json } from '../../../../src/wire/json.ts'
import { Refusal } from '../../../../src/wire/refusal.ts'
import { World } from '../../engine/world.ts'

const ROOT = join(import.meta.dir, '..', '..', '..', '..')
const STAND_IN = join(ROOT, 'test', 'support', 'stand-in.ts')
export const TIMES = { retry: 50, limited: 80, term: 400, kill: 1_000 }

export class Workshop implements AsyncDisposable {
  readonly root = mkdtempSync(join(tmpdir(), 'm4a-workshop-'))
  readonly logged: string[] = []
  #door: { stop(force: boolean): unknown } | null = null
  #sessions = new Map<number, Caller>()
  supervisor!: Supervisor
  person!: Caller

  private constructor(readonly world: World) {}

  static async open(env: Record<string, string> = {}): Promise<Workshop> {
    const shop = new Workshop(await World.open())
    shop.#serve()
    shop.supervisor = shop.make(env)
    Object.assign(shop.world.mail, { runs: shop.supervisor, dataDir: shop.root })
    await shop.supervisor.start()
    shop.person = await shop.world.session(await shop.world.account('pat', { operator: true }, 'person'))
    return shop
  }

  /** Another supervisor on the same store and folder, as after a restart. */
  make(env: Record<string, string> = {}): Supervisor {
    const place = {
      dataDir: this.root,
      socket: join(this.root, 'door.sock'),
      port: () => 0,
      program: [process.execPath, join(ROOT, 'src', 'main.ts')],
      env: { PATH: process.env.PATH, HOME: this.root, ...env },
      umask: 0o022,
      times: TIMES,
    }
    return new Supervisor(
      () => this.world.mail,
      place,
      (message, facts) => this.logged.push(`${message} ${JSON.stringify(facts)}`),
    )
  }

  /** An agent that behaves as said, attempt by attempt. Its folder. */
  async agent(name: string, behaviour: string[], profile: Partial<AgentAdd> = {}): Promise<string> {
    const cwd = profile.cwd ?? mkdtempSync(join(this.root, `${name}-`))
    writeFileSync(join(cwd, 'behaviour'), behaviour.join('\n'))
    if (!this.world.store.registry.account(name)) await this.world.account(name, { dispatch: true })
    const program = { program: process.execPath, args: ['run', STAND_IN] }
    await ADMINISTER.agent(this.world.mail, { id: name, provider: 'command', ...program, ...profile, cwd })
    return cwd
  }

  dispatch(to: string, body = 'do it', by = this.person) {
    return this.world.call(by, 'send', { to, subject: 'work', body, dispatch: 'resume' })
  }

  async show(id: number): Promise<{ dispatch: Dispatch; attempts: Attempt[] }> {
    return this.world.call(this.person, 'dispatch_show', { id })
  }

  /** Waits until it is done. */
  async done(id: number, ms = 20_000): Promise<{ dispatch: Dispatch; attempts: Attempt[] }> {
    for (const end = performance.now() + ms; ; await Bun.sleep(20)) {
      const shown = await this.show(id)
      if (shown.dispatch.state === 'done') return shown
      if (performance.now() > end) throw new Error(`not done: ${JSON.stringify(shown)} ${this.logged.join('\n')}`)
    }
  }

  /** From the dispatch to its end, and the letter that told of it. */
  async through(
    to: string,
    body?: string,
  ): Promise<{ dispatch: Dispatch; attempts: Attempt[]; letter: string | null }> {
    const sent = await this.dispatch(to, body)
    const { dispatch, attempts } = await this.done(sent.dispatch?.id ?? 0)
    const told = dispatch.bounce ?? dispatch.reply
    const letter = told === null ? null : (await this.world.call(this.person, 'get', { message_id: told })).body
    return { dispatch, attempts, letter }
  }

  row(id: number): DispatchRow {
    const row = this.world.store.dispatches.get(id)
    if (!row) throw new Error(`no dispatch ${id}`)
    return row
  }

  /** Processes that are still at work for a run, or were left by it. */
  left(attempts: readonly Attempt[]): number[] {
    return everyProcess()
      .map(({ pid }) => pid)
      .filter(
        (pid) => attempts.some(({ run: name }) => wasStartedWith(pid, `M4A_RUN=${name}`)) || sleeps(pid, this.root),
      )
  }

  #serve(): void {
    this.#door = Bun.serve({
      unix: join(this.root, 'door.sock'),
      fetch: async (request) => {
        const digest = digestOf(request.headers.get('authorization')?.replace('Bearer ', '') ?? '')
        const account = this.world.store.registry.accountByRun(digest)
        if (!account) return Response.json({ kind: 'unauthenticated' }, { status: 401 })
        const caller = this.#sessions.get(account.id) ?? (await this.world.session(account))
        this.#sessions.set(account.id, caller)
        const name = new URL(request.url).pathname === '/mail/ack' ? 'ack' : 'send'
        try {
          const answer = await run(this.world.mail, name, caller, await request.json())
          return new Response(answer instanceof Json ? answer.text : JSON.stringify(answer))
        } catch (error) {
          if (error instanceof Refusal) return Response.json(error, { status: error.status })
          throw error
        }
      },
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.supervisor.stop()
    await this.world.close()
    this.#door?.stop(true)
    rmSync(this.root, { recursive: true, force: true })
  }
}

/** The stand-in's children sleep for odd times below its folder: by name and working folder they are known without an environment. */
function sleeps(pid: number, root: string): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')
    return (
      words[0] === 'sleep' &&
      /^60[0-3]$/.test(words[1] ?? '') &&
      existsSync(`/proc/${pid}/cwd`) &&
      linked(pid).startsWith(root)
    )
  } catch {
    return false
  }
}

const linked = (pid: number): string => {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ''
  }
}

/** Lines of the stand-in's notes that begin with `word`. */
export const notes = (cwd: string, word: string): string[] => {
  const path = join(cwd, 'notes')
  return existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith(`${word} `))
    : []
}
