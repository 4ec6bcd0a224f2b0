// A small world for tests of the engine: a real store in memory, accounts, rooms, and sessions whose process can be ended.
import { Value } from '@sinclair/typebox/value'
import { Waiters } from '../../../src/delivery/waiters.ts'
import { noRuns } from '../../../src/engine/dispatch/runs.ts'
import { run } from '../../../src/engine/engine.ts'
import type { Caller, Mail, Patience } from '../../../src/engine/mail.ts'
import { Rates } from '../../../src/engine/rates.ts'
import { noWakes } from '../../../src/engine/wake/port.ts'
import { openStore } from '../../../src/store/open.ts'
import type { AccountRow, RoomRow } from '../../../src/store/rows.ts'
import type { Store } from '../../../src/store/store.ts'
import { Json } from '../../../src/wire/json.ts'
import {
  type AnswerOf,
  type Capability,
  OPERATIONS,
  type OperationName,
  type RequestOf,
} from '../../../src/wire/operations.ts'
import { Refusal } from '../../../src/wire/refusal.ts'
import { noDesktop } from '../../support/no-desktop.ts'

export class World {
  readonly mail: Mail
  readonly waiters: Waiters
  /** Row ids of sessions whose process has ended. */
  readonly gone = new Set<number>()
  /** Milliseconds that the clock of the engine runs ahead of the store's. */
  ahead = 0
  #sessions = 0

  constructor(readonly store: Store) {
    this.waiters = new Waiters(store)
    this.mail = {
      store,
      parking: this.waiters,
      rates: new Rates(),
      now: () => Date.now() + this.ahead,
      alive: (session) => !this.gone.has(session.id),
      ownPort: () => 18301,
      dataDir: '/nonexistent',
      bell: () => ({ pending: 0, lastOk: null, lastError: null, lastErrorAt: null }),
      desktop: noDesktop,
      runs: noRuns('a test'),
      wakes: noWakes,
    }
  }

  static async open(): Promise<World> {
    return new World(await openStore(':memory:'))
  }

  async close(): Promise<void> {
    this.waiters.stop()
    await this.store.close()
  }

  account(name: string, can: Partial<Record<Capability, boolean>> = {}, kind: AccountRow['kind'] = 'agent') {
    const rights = { send: true, read: true, dispatch: false, behalf: false, operator: false, ...can }
    const digest = new Bun.CryptoHasher('sha256').update(`${name} ${Math.random()}`).digest('hex')
    return this.store.addAccount({ name, label: null, kind, can: rights, digest })
  }

  async room(name: string, ...members: AccountRow[]): Promise<RoomRow> {
    const room = await this.store.addRoom(name, null)
    for (const member of members) await this.store.join(room, member)
    return room
  }

  /** A new session of an account, as identity/ would register it. `name` begins the hex digits of its id. */
  async session(account: AccountRow, name = '', predecessor: number | null = null): Promise<Caller> {
    const number = ++this.#sessions
    const hex = new Bun.CryptoHasher('sha256').update(String(number)).digest('hex')
    const session = await this.store.addSession({
      account: account.id,
      name: `s-${(name + hex).slice(0, 32)}`,
      instance: { boot: 'b', pidns: 'n', pid: number, start: String(number), pidfd: null },
      conversation: null,
      attested: { pid: number, started_at_unix_ms: 1, exe: '/bin/agent', uid: 1000, spawned_by: null },
      corroborated: {
        provider: null,
        provider_session_id: null,
        conversation: null,
        model: null,
        cwd: null,
        sources: {},
      },
      predecessor,
    })
    return { account, session }
  }

  /** Its process ends, and the mailbox has noticed. */
  async end(caller: Caller): Promise<void> {
    this.gone.add(caller.session.id)
    await this.store.endSession(caller.session)
  }

  /** Runs an operation and gives its answer as an object, as a door would send it; it has to be what the schema says. */
  async call<N extends OperationName>(
    caller: Caller,
    name: N,
    request: RequestOf<N>,
    patience?: Patience,
  ): Promise<AnswerOf<N>> {
    const answer = await run(this.mail, name, caller, request, patience)
    const object: unknown = answer instanceof Json ? answer.toJSON() : answer
    for (const error of Value.Errors(OPERATIONS[name].answer, object))
      throw new Error(`${name} answers ${error.path}: ${error.message}`)
    return object as AnswerOf<N>
  }

  /** The refusal that an operation ends with; fails where it does not. */
  async refusal<N extends OperationName>(caller: Caller, name: N, request: RequestOf<N>): Promise<Refusal> {
    try {
      await run(this.mail, name, caller, request)
    } catch (error) {
      if (error instanceof Refusal) return error
      throw error
    }
    throw new Error(`${name} was not refused`)
  }

  /** Sends a plain message; its id. */
  async letter(from: Caller, to: string, body = 'hello'): Promise<string> {
    return (await this.call(from, 'send', { to, subject: 'a subject', body })).message_id
  }

  /** Ids in an inbox. */
  async inbox(caller: Caller, request: RequestOf<'inbox'> = {}): Promise<string[]> {
    return (await this.call(caller, 'inbox', request)).messages.map((message) => message.message_id)
  }
}

export const addressOf = ({ account, session }: Caller): string => `${account.name}/${session.name}`

/** A door that holds waits for at most `capSeconds`. */
export const patience = (capSeconds: number, signal = new AbortController().signal): Patience => ({
  capSeconds,
  signal,
})
