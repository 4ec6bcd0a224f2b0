// The daemon: opens every part in the order of a letter's way, and closes them the other way round.
import { existsSync, rmSync } from 'node:fs'
import { type Attestor, openAttestor } from '../attest/attestor.ts'
import { retest } from '../attest/retest.ts'
import { failingBells, failingWakes, watchFaults } from '../delivery/faults.ts'
import { openIdentity } from '../identity/identify.ts'
import { diskRefusal, isDamage } from '../store/disk.ts'
import { openStore } from '../store/open.ts'
import { Refusal } from '../wire/refusal.ts'
import { rfc3339 } from '../wire/time.ts'
import { assemble, type Closer, complain, type DaemonOptions } from './assemble.ts'
import { openCommandSocket } from './command-socket.ts'
import { inFolder, privateFiles, privateFolder, writePrivate } from './folders.ts'
import { createApp } from './http/app.ts'
import type { Door } from './http/door.ts'
import { type HealthFacts, provable } from './http/health.ts'
import { startKeeper } from './keeper.ts'
import { listen, mustBeFree, type TcpDoor } from './listen.ts'
import type { Log } from './log.ts'
import { ensureOperator } from './operator.ts'
import { startRest } from './rest.ts'
import { listenOnSocket } from './socket.ts'
import { VERSION } from './version.ts'

export type { DaemonOptions } from './assemble.ts'

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
/** Milliseconds for the last bytes of the answers under way. */
const BYTES_MS = 600

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
