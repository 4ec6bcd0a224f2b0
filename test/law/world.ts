// The compiled mailbox with a clock that can be moved, and processes that are sessions of it.
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Actor } from '../e2e/support/actor.ts'
import { Mailbox } from '../e2e/support/mailbox.ts'

const LIBRARY = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketime.so.1`

/** Stands for an agent client that is known by its file, so that its command line tells with which session it goes on. */
const CLIENT = 'claude'

export class World {
  readonly #mailbox: Mailbox
  readonly #idle: Actor[] = []
  readonly #clients = new Set<Actor>()
  /** What was done to it, and how often. */
  readonly faults: Record<string, number> = {}
  calls = 0
  #serial = 0
  #clock = 0

  private constructor(mailbox: Mailbox) {
    this.#mailbox = mailbox
  }

  static async start(): Promise<World> {
    if (!existsSync(LIBRARY)) throw new Error(`${LIBRARY} is missing: apt-get install faketime`)
    const world = new World(new Mailbox())
    mkdirSync(join(world.#mailbox.root, 'bin'))
    copyFileSync(process.execPath, world.#client)
    await world.up()
    return world
  }

  get #client(): string {
    return join(this.#mailbox.root, 'bin', CLIENT)
  }

  get #clockFile(): string {
    return join(this.#mailbox.root, 'clock')
  }

  admin = (route: string, request: object): Promise<Record<string, unknown>> => this.#mailbox.admin(route, request)
  account = (id: string, more: object): Promise<string> => this.#mailbox.account(id, more)

  async up(): Promise<void> {
    this.moveClock(0)
    await this.#mailbox.up({
      M4A_RECOGNISED_AGENTS: this.#client,
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: this.#clockFile,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    })
  }

  async down(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.counted(signal === 'SIGKILL' ? 'kill -9' : 'restart')
    await this.#mailbox.down(signal)
  }

  /** Where a history ended in the middle of a restart. */
  async mend(): Promise<void> {
    if (!this.#mailbox.runs) await this.up()
  }

  /** By so many seconds, forwards or back; the mailbox sees it at once. */
  moveClock(by: number): void {
    this.#clock += by
    if (by !== 0) this.counted(by > 0 ? 'clock forwards' : 'clock back')
    writeFileSync(this.#clockFile, `${this.#clock < 0 ? '-' : '+'}${Math.abs(this.#clock)}`)
  }

  counted(fault: string): void {
    this.faults[fault] = (this.faults[fault] ?? 0) + 1
  }

  /** Unique in this mailbox. */
  fresh = (name: string): string => `${name}${this.#serial++}`

  /** A process: one that has no part in the present history. */
  async process(): Promise<Actor> {
    return this.#idle.pop() ?? this.#mailbox.actor('')
  }

  /** A process of its own that goes on with a session of its client. */
  async resuming(session: string): Promise<Actor> {
    const actor = await this.#mailbox.actor('', { program: this.#client, arguments: ['--resume', session] })
    this.#clients.add(actor)
    return actor
  }

  async end(actor: Actor): Promise<void> {
    this.counted('session killed')
    await actor.end()
    // the mailbox looks for the ended now, not when its sweep comes round
    await this.admin('orphan/list', {})
  }

  /** For another history; an agent client has its session and no other. */
  async giveBack(actors: readonly Actor[]): Promise<void> {
    this.#idle.push(...actors.filter((actor) => !this.#clients.has(actor)))
    for (const actor of actors) if (this.#clients.delete(actor)) await actor.end()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mailbox[Symbol.asyncDispose]()
  }
}
