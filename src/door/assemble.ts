// The parts behind the doors, put together: what mail, identity, wakes and the link need of each other.
import type { Attestor } from '../attest/attestor.ts'
import { openDesktop } from '../delivery/desktop/desktop.ts'
import { Notifier } from '../delivery/desktop/notifier.ts'
import { type Doorbells, startDoorbells } from '../delivery/doorbells.ts'
import { Feeds } from '../delivery/feeds.ts'
import { Waiters } from '../delivery/waiters.ts'
import { noRuns, type Runs } from '../engine/dispatch/runs.ts'
import type { Mail } from '../engine/mail.ts'
import { Rates } from '../engine/rates.ts'
import { noWakes } from '../engine/wake/port.ts'
import type { Identity } from '../identity/identify.ts'
import { DoorKeys } from '../link/vault/door-keys.ts'
import type { Policy } from '../store/keeping/policy.ts'
import type { Store } from '../store/store.ts'
import { TIMES } from '../wake/dispatch/launch.ts'
import { Supervisor } from '../wake/dispatch/supervisor.ts'
import { Waker } from '../wake/waker.ts'
import { Connections } from './http/connections.ts'
import { Calls, type Door } from './http/door.ts'
import type { HealthFacts } from './http/health.ts'
import { Metrics } from './http/metrics.ts'
import { Seat } from './link-seat.ts'
import type { TcpDoor } from './listen.ts'
import type { Log } from './log.ts'

export type DaemonOptions = {
  /** Made with mode 0700 where it is missing. */
  readonly dataDir: string
  /** 0: any free one. */
  readonly port: number
  /** Path of the Unix socket; null where there is none (Windows). */
  readonly socket: string | null
  /** Path of the command socket; null where there is none. `given`: somebody named it, so it must be that one. */
  readonly commands?: { path: string; given: boolean } | null
  /** Executables of agent clients. */
  readonly recognised: readonly string[]
  /** The operator allows port forwarders as callers. */
  readonly allowForwarders?: boolean
  /** The operator allows agents to use the tokens of persons and operators. */
  readonly allowAgentsAsPersons?: boolean
  /** What is removed after how many days; else as it comes. */
  readonly keep?: Policy
  /** The words that start this program, for the agents that it starts; without them it starts none. */
  readonly program?: readonly string[]
  /** Nobody is woken, whatever the policies say. */
  readonly silent?: boolean
  /** That of this process, and behind it a file of settings. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly log: Log
}

export type Closer = () => void | Promise<void>

/** Milliseconds for the calls under way. */
const ANSWERS_MS = 1_000

/**
 * The parts behind the doors. `served` is told the listener once there is one: no doorbell may ring before, or ring there.
 * `settle` answers whoever is parked or under way, and ends the rest.
 */
export function assemble(
  store: Store,
  identity: Identity,
  attestor: Attestor,
  attestation: HealthFacts['attestation'],
  { dataDir, log, program, silent = false, env = process.env }: DaemonOptions,
): {
  door: Door
  served: (tcp: TcpDoor) => void
  settle: Closer
  started: (socket: string | null, umask: number) => Closer
  seat: Seat
} {
  let port = 0
  let bells: Doorbells | undefined
  let waker: Waker | undefined
  let runs: Runs = noRuns('the mailbox is just starting')
  const waiters = new Waiters(store)
  const calls = new Calls()
  const desktop = new Notifier(store, openDesktop(process.platform, process.env), { log: log.warn })
  const health: HealthFacts = { startedAt: Date.now(), attestation, listening: [], unavailable: [] }
  const seat = new Seat(dataDir, log)
  const mail: Mail = {
    link: seat,
    store,
    parking: waiters,
    rates: new Rates(),
    now: Date.now,
    alive: (session) => identity.alive(session),
    ownPort: () => port,
    dataDir,
    bell: (account) => bells?.health(account) ?? { pending: 0, lastOk: null, lastError: null, lastErrorAt: null },
    desktop,
    get runs() {
      return runs
    },
    get wakes() {
      return waker ?? noWakes
    },
  }
  const door: Door = {
    mail,
    identity,
    health,
    metrics: new Metrics(),
    waiting: () => waiters.size,
    feeds: new Feeds(store),
    connections: new Connections(),
    calls,
    log,
  }
  const served = (tcp: TcpDoor) => {
    port = tcp.port
    health.listening = tcp.listening
    health.unavailable = tcp.unavailable
    bells = startDoorbells(store, { ownPort: () => port })
    desktop.start()
    waker = new Waker({
      mail,
      attestor,
      dataDir,
      secrets: new DoorKeys(dataDir, process.env),
      env,
      silent,
      log: log.info,
    })
    waker.start()
  }
  const settle = async () => {
    await Promise.all([bells?.stop(), waker?.stop(), desktop.stop(), calls.close(ANSWERS_MS), waiters.stop()])
  }
  const started = (socket: string | null, umask: number): Closer => {
    if (process.platform !== 'linux' || program === undefined) {
      runs = noRuns(
        program === undefined ? 'this mailbox does not know its own program' : `not on ${process.platform} yet`,
      )
      return () => {}
    }
    const place = { dataDir, socket, port: () => port, program, env: process.env, umask, times: TIMES }
    const supervisor = new Supervisor(() => mail, place, log.info)
    runs = supervisor
    void supervisor.start().catch((error) => complain(log, 'dispatch could not start', error))
    return () => supervisor.stop()
  }
  return { door, served, settle, started, seat }
}

export const complain = (log: Log, what: string, error: unknown): void =>
  log.error(what, { error: error instanceof Error ? error.message : String(error) })
