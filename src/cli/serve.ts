// mail4agent serve: the mailbox itself, in the foreground, until it is stopped.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Daemon, type DaemonOptions, startDaemon } from '../door/daemon.ts'
import { type Log, openLog } from '../door/log.ts'
import { openSupervisor, type Supervisor } from '../door/supervisor.ts'
import { logPath } from '../install/background.ts'
import { portRefusal } from '../install/doctor/port.ts'
import { ourProgram } from '../install/machine.ts'
import type { Manager } from '../install/service-manager.ts'
import { filledFrom, parseEnvFile, refusedIn } from '../wake/detect/env-file.ts'
import { readOwn } from '../wake/files.ts'
import { Refusal } from '../wire/refusal.ts'
import { callFrom } from './call-us.ts'
import { defineCommand } from './command.ts'
import { settingsFor } from './config.ts'
import type { Context } from './context.ts'
import { CannotWrite, ReaderGone } from './io.ts'
import { commandSocket, DEFAULT_PORT, readDaemonFile } from './place.ts'
import { asRefusal } from './refused.ts'
import { errIsJournal, exitFor, forgetStarts, logRefusal, managerNamed, tooManyStarts } from './under-manager.ts'
import { usage } from './usage.ts'

export const serve = defineCommand({
  name: 'serve',
  summary: 'run the mailbox',
  usage: '[options]',
  help: `Runs the mailbox in the foreground until Ctrl-C or SIGTERM. The first start makes the data folder, the database and the
operator's key; nothing needs to be configured. It listens on this machine only.

  mail4agent serve
  mail4agent serve --port 0 --data-dir /tmp/try     any free port, a folder of its own

Environment: M4A_DATA_DIR, M4A_PORT, M4A_SOCKET; M4A_SEND_SOCK: the command socket (send.sock in the data folder);
M4A_RECOGNISED_AGENTS lists the executables that count as agents;
M4A_WAKE=off wakes nobody, whatever the policies say.
Configuration: config.toml in ~/.config/mail4agent (macOS: ~/Library/Application Support/mail4agent, Windows:
%APPDATA%\\mail4agent). Other keys are refused.

  recognised_agents = ["claude", "codex"]   the executables that count as agents, instead of those we know
  allow_forwarders = true                   port forwarders may call; who is behind them cannot be proved
  allow_agents_as_persons = true            agents may use the tokens of persons and operators
  homeserver_url = "https://…"              where mail4agent link setup logs in, unless it is told
  [keep]
  closed_days = 90                          closed mail; 30 or more, or "forever". What is not closed is never removed
  events_days = 30                          what happened to mail, for those who follow /events`,
  options: {
    service: { value: 'MANAGER', help: 'run by systemd, launchd or windows: log for it, end as it expects' },
  },
  words: [0, 0],
  async run(context) {
    const manager = managerNamed(context.options.service)
    const log = logFor(context, manager)
    const supervisor = openSupervisor(context.io.env)
    if (manager === null) {
      await runUntilStopped(context, log, supervisor, (daemon) => whoeverListens(() => about(context, daemon)))
      return 0
    }
    try {
      return await runFor(manager, context, log, supervisor)
    } catch (error) {
      const refusal = asRefusal(error)
      logRefusal(log, refusal)
      supervisor.status(refusal.message)
      return exitFor(manager, refusal)
    }
  },
})

async function runFor(manager: Manager, context: Context, log: Log, supervisor: Supervisor): Promise<number> {
  const { dataDir } = context.place
  const tooMany = manager === 'launchd' ? tooManyStarts(dataDir, context.io.now()) : null
  if (tooMany !== null) {
    log.error('not started again', { reason: tooMany, hint: 'see the lines above; then: mail4agent service start' })
    forgetStarts(dataDir)
    return 0
  }
  await runUntilStopped(context, log, supervisor, ({ newOperatorKey, attestation }) => {
    if (newOperatorKey !== null) log.info("made the operator's key", { path: newOperatorKey })
    if (!attestation.ok) supervisor.status(`refuses mail, because callers cannot be proved: ${attestation.reason}`)
  })
  forgetStarts(dataDir)
  return 0
}

/** @throws Refusal as `startDaemon`; `store_unavailable` when the store can no longer write */
async function runUntilStopped(
  { place, io }: Context,
  log: Log,
  supervisor: Supervisor,
  started: (daemon: Daemon) => void,
): Promise<void> {
  const stop = io.stopSignal()
  const port = place.port ?? DEFAULT_PORT
  const named = async (error: unknown): Promise<never> => {
    const holder = error instanceof Refusal && error.kind === 'port_taken' ? await portRefusal(port) : null
    throw holder ?? error
  }
  const daemon = await startOn(place.dataDir, {
    port,
    socket: place.socket,
    commands: commandSocket(place, io),
    ...settingsFor(io),
    program: ourProgram(),
    env: environmentFor(io),
    silent: /^(off|0|false|no)$/i.test(io.env.M4A_WAKE ?? ''),
    log,
  }).catch(named)
  supervisor.ready(`listens on ${daemon.listening.join(' ')}`)
  started(daemon)
  const stopped = new Promise<null>((resolve) => stop.addEventListener('abort', () => resolve(null), { once: true }))
  const reason = stop.aborted ? null : await Promise.race([stopped, daemon.broken])
  supervisor.stopping()
  await daemon.stop()
  if (reason !== null) throw new Refusal('store_unavailable', `the store can no longer write: ${reason}`)
}

/** Lines for a person at a terminal; for everything else logfmt, with levels that the journal knows where it takes them. */
const logFor = ({ io, place }: Context, manager: Manager | null): Log =>
  openLog({
    human: io.errIsTerminal && manager === null,
    journal: errIsJournal(io.env),
    write: manager === 'windows' ? appendTo(logPath(place.dataDir)) : (line) => whoeverListens(() => io.err(line)),
  })

/** A task of Windows has no output that anybody keeps. Before the data folder is there, nothing can be kept either. */
const appendTo = (path: string) => (line: string) => {
  try {
    appendFileSync(path, line, { mode: 0o600 })
  } catch {
    // a full disk is no reason to stop
  }
}

function about(context: Context, daemon: Daemon): void {
  const { port, socketPath, listening, attestation, newOperatorKey } = daemon
  const { place } = context
  const url = `http://127.0.0.1:${port}`
  const us = callFrom(context)
  context.show({ url, port, socket: socketPath, listening, data_dir: place.dataDir, attestation }, () =>
    [
      `listens on ${url}${socketPath === null ? '' : ` and ${socketPath}`}`,
      `keeps its data in ${place.dataDir}`,
      ...(newOperatorKey === null ? [] : [`the operator's key is in ${newOperatorKey}`]),
      ...(attestation.ok ? [] : [`refuses mail, because callers cannot be proved: ${attestation.reason}`]),
      `next, in another terminal: ${us} admin account add claude`,
      `then: ${us} send claude "hello" --as operator`,
      'Ctrl-C stops it',
    ]
      .map((line) => `${line}\n`)
      .join(''),
  )
}

/**
 * The environment, and what a file of settings adds to it.
 * @throws Refusal `usage` for what must not stand there
 */
function environmentFor({ env, home }: Context['io']): Readonly<Record<string, string | undefined>> {
  const path = env.M4A_ENV_FILE || join(home, '.config', 'mail4agent', 'web-client.env')
  const filled = filledFrom(env, parseEnvFile(readOwn(path) ?? ''))
  const refused = refusedIn(filled)
  if (refused !== null) throw usage(refused)
  return filled
}

/** @throws Refusal as `startDaemon`; `already_running` says where the other one is */
async function startOn(dataDir: string, options: Omit<DaemonOptions, 'dataDir'>): Promise<Daemon> {
  try {
    return await startDaemon({ ...options, dataDir })
  } catch (error) {
    const other = error instanceof Refusal && error.kind === 'already_running' ? readDaemonFile(dataDir) : null
    if (other === null) throw error
    const { pid, port, socket } = other
    throw new Refusal(
      'already_running',
      `a mailbox already runs on this data folder: process ${pid}, http://127.0.0.1:${port}`,
      { data_dir: dataDir, pid, port, socket },
    )
  }
}

/** A mailbox goes on when nobody reads what it prints any more, or the disk of its log is full. */
function whoeverListens(write: () => void): void {
  try {
    write()
  } catch (error) {
    if (!(error instanceof ReaderGone || error instanceof CannotWrite)) throw error
  }
}
