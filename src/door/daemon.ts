// The daemon: opens every part in the order of a letter's way, and closes them the other way round.
import { existsSync, rmSync } from 'node:fs'
import { type Attestor, openAttestor } from '../attest/attestor.ts'
import { retest } from '../attest/retest.ts'
import { openDesktop } from '../delivery/desktop/desktop.ts'
import { Notifier } from '../delivery/desktop/notifier.ts'
import { type Doorbells, startDoorbells } from '../delivery/doorbells.ts'
import { failingBells, failingWakes, watchFaults } from '../delivery/faults.ts'
import { Feeds } from '../delivery/feeds.ts'
import { Waiters } from '../delivery/waiters.ts'
import { noRuns, type Runs } from '../engine/dispatch/runs.ts'
import type { Mail } from '../engine/mail.ts'
import { Rates } from '../engine/rates.ts'
import { noWakes } from '../engine/wake/port.ts'
import { type Identity, openIdentity } from '../identity/identify.ts'
import { DoorKeys } from '../link/vault/door-keys.ts'
import { diskRefusal, isDamage } from '../store/disk.ts'
import type { Policy } from '../store/keeping/policy.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { TIMES } from '../wake/dispatch/launch.ts'
import { Supervisor } from '../wake/dispatch/supervisor.ts'
import { Waker } from '../wake/waker.ts'
import { Refusal } from '../wire/refusal.ts'
import { rfc3339 } from '../wire/time.ts'
import { openCommandSocket } from './command-socket.ts'
import { inFolder, privateFiles, privateFolder, writePrivate } from './folders.ts'
import { createApp } from './http/app.ts'
import { Connections } from './http/connections.ts'
import { Calls, type Door } from './http/door.ts'
import { type HealthFacts, provable } from './http/health.ts'
import { Metrics } from './http/metrics.ts'
import { startKeeper } from './keeper.ts'
import { Seat } from './link-seat.ts'
import { listen, mustBeFree, type TcpDoor } from './listen.ts'
import type { Log } from './log.ts'
import { ensureOperator } from './operator.ts'
import { startRest } from './rest.ts'
import { listenOnSocket } from './socket.ts'
import { VERSION } from './version.ts'

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

export type Daemon = {
  readonly port: number
  readonly socketPath: string | null
  /** `host:port` of every listener. */
  readonly listening: readonly string[]
  readonly attestation: HealthFacts['attestation']
  /** Path of the operator's key when this was the first start, else null. */
  readonly newOperatorKey: string | null
  /** Resolves to the reason if the store can no longer write: the process should end. */
  readonly broken: Promise<string>
  /** Answers the parked, finishes what is under way, closes everything; within 2 s. */
  stop(): Promise<void>
}

const SWEEP_MS = 2_000
const RETEST_MS = 10_000
/** Milliseconds for the calls under way, and then for their last bytes. */
const ANSWERS_MS = 1_000
const BYTES_MS = 600

type Closer = () => void | Promise<void>

/**
 * Starts the mailbox on a data folder.
 * @throws Refusal `already_running`, `port_taken`, `bad_permissions`, `newer_store`, `damaged_store`,
 *   `store_unavailable`, `usage`; nothing runs then
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const closers: Closer[] = []
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= closeAll(closers, options.log)
    return stopping
  }
  try {
    return { ...(await start(options, closers)), stop }
  } catch (error) {
    await stop()
    if (error instanceof Error && isDamage(error.message))
      throw new Refusal('damaged_store', `the store cannot be read: ${error.message}`)
    throw diskRefusal(error, options.dataDir, 'choose another folder with --data-dir') ?? error
  }
}

async function closeAll(closers: Closer[], log: Log): Promise<void> {
  for (const close of closers.reverse()) {
    try {
      await close()
    } catch (error) {
      complain(log, 'closing failed', error)
    }
  }
}

async function start(options: DaemonOptions, closers: Closer[]): Promise<Omit<Daemon, 'stop'>> {
  const { dataDir, log } = options
  const files = inFolder(dataDir)
  const broken = Promise.withResolvers<string>()
  const umask = process.umask()
  closers.push(privateFiles())
  const attestor = openAttestor()
  closers.push(() => attestor.close())
  // where nothing is yet, nothing is left of a start that cannot be; elsewhere the lock says better who is in the way
  if (!existsSync(dataDir)) await mustBeFree(options.port, attestor)
  privateFolder(dataDir)
  const [store, attestation] = await Promise.all([openStore(files.store, broken.resolve), attestor.selfTest()])
  closers.push(() => store.close())
  if (options.keep) store.keeping.policy = options.keep
  void broken.promise.then((reason) => log.error('the store cannot write any more', { reason }))
  if (!attestation.ok) log.error('callers cannot be proved, so mail is refused', { reason: attestation.reason })
  const firstStart = await ensureOperator(store, files.operatorKey)

  const identity = openIdentity(store, attestor, {
    recognised: options.recognised,
    allowForwarders: options.allowForwarders ?? false,
    allowAgentsAsPersons: options.allowAgentsAsPersons ?? false,
    log: log.warn,
  })
  const { door, served, settle, started, seat } = assemble(store, identity, attestor, attestation, options)
  const { tcp, socket } = await openDoors(door, attestor, options, closers)
  closers.push(settle)
  served(tcp)
  const faults = watchFaults(
    door.mail,
    [() => unproved(door), failingBells(door.mail), failingWakes(door.mail)],
    (error) => complain(log, 'faults could not be told', error),
  )
  closers.push(() => faults.stop())
  closers.push(started(socket, umask))
  closers.push(() => seat.stop())
  void seat.open(door.mail).catch((error) => complain(log, 'the link failed', error))
  if (!attestation.ok)
    closers.push(
      retest(
        () => attestor.selfTest(),
        RETEST_MS,
        (result) => heard(door, result),
      ),
    )
  const sweep = setInterval(
    () => void identity.sweep().catch((error) => complain(log, 'sweep failed', error)),
    SWEEP_MS,
  )
  closers.push(() => clearInterval(sweep))
  closers.push(startKeeper(store, log))
  closers.push(startRest())

  const note = {
    pid: process.pid,
    port: tcp.port,
    socket,
    version: VERSION,
    started_at: rfc3339(door.health.startedAt),
  }
  writePrivate(files.daemon, JSON.stringify(note))
  closers.push(() => rmSync(files.daemon, { force: true }))
  log.info('listening', { at: tcp.listening.join(' '), socket, data_dir: dataDir, version: VERSION })
  const newOperatorKey = firstStart ? files.operatorKey : null
  return {
    port: tcp.port,
    socketPath: socket,
    listening: tcp.listening,
    attestation,
    newOperatorKey,
    broken: broken.promise,
  }
}

/** While callers cannot be proved, all mail is refused. */
const unproved = ({ health }: Door) => {
  const attestation = provable(health)
  return attestation.ok ? [] : [{ name: 'attestation', text: attestation.reason }]
}

/** A later self-test: callers are served from the moment on when it passes. */
function heard({ health, log }: Door, result: HealthFacts['attestation']): void {
  health.attestation = result
  if (result.ok) log.info('callers can be proved again')
}

/**
 * The parts behind the doors. `served` is told the listener once there is one: no doorbell may ring before, or ring there.
 * `settle` answers whoever is parked or under way, and ends the rest.
 */
function assemble(
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

async function openDoors(
  door: Door,
  attestor: Attestor,
  { port, socket, commands = null, log }: DaemonOptions,
  closers: Closer[],
): Promise<{ tcp: TcpDoor; socket: string | null }> {
  const serve = createApp(door).fetch // made here and now: the first caller does not wait for it
  const doors: { stop(ms: number): Promise<void> }[] = []
  closers.push(async () => {
    await Promise.all(doors.map((door) => door.stop(BYTES_MS)))
  })
  const tcp = listen(port, attestor, serve)
  doors.push(tcp)
  const unix = socket === null ? null : await listenOnSocket(socket, attestor, serve, log)
  if (unix) doors.push(unix)
  const lines = commands === null ? null : await openCommandSocket(commands, attestor, door)
  if (lines) doors.push(lines)
  return { tcp, socket: unix?.path ?? null }
}

const complain = (log: Log, what: string, error: unknown): void =>
  log.error(what, { error: error instanceof Error ? error.message : String(error) })
