// Starting an attempt: everything it needs is written down first, then its attendant is started in a session of its own.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { AttemptRow, DispatchRow, Profile } from '../../store/dispatch/rows.ts'
import { attemptFolder, filesOf, makeFolder, put, type Spec } from './attempt-files.ts'
import { environmentOf } from './environment.ts'
import { RUN_VARIABLE } from './family.ts'
import type { Provider } from './providers/provider.ts'
import { transientEnvironment, transientWords } from './transient.ts'

/** Milliseconds: before another attempt, the same after a rate limit, after SIGTERM, after SIGKILL. */
export type Times = { retry: number; limited: number; term: number; kill: number }
export const TIMES: Times = { retry: 5_000, limited: 30_000, term: 10_000, kill: 5_000 }

/** What the supervisor knows of the machine and of itself. */
export type Place = {
  readonly dataDir: string
  readonly socket: string | null
  readonly port: () => number
  /** The words that start this program. */
  readonly program: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** For the files of agents; our own are for their owner alone. */
  readonly umask: number
  readonly times: Times
}

export type Job = {
  row: DispatchRow
  attempt: AttemptRow
  profile: Profile
  provider: Provider
  account: string
  /** `m4a_…` of the thread, for the environment. */
  thread: string | null
  secret: string
  prompt: string
}

/** A session's id, where the client lets us choose it. */
export const mintedSession = (provider: Provider): string | null => (provider.mints ? randomUUID() : null)

/** The folder that counts as one: links and spellings lead to the same. */
export function folderOf(cwd: string): string {
  try {
    return realpathSync(cwd)
  } catch {
    return cwd
  }
}

/** Why it cannot be started as it is set up; null: nothing is known against it. */
export function setupFault({ profile, provider }: Pick<Job, 'profile' | 'provider'>, place: Place): string | null {
  if (!existsSync(profile.cwd)) return `its folder ${profile.cwd} does not exist`
  if (programOf(profile, provider, place) !== null) return null
  if (profile.program !== null) return `its program ${profile.program} does not exist`
  return `its program ${provider.program ?? ''} is not on the PATH of the mailbox`
}

function programOf(profile: Profile, provider: Provider, { env }: Place): string | null {
  if (profile.program !== null) return existsSync(profile.program) ? profile.program : null
  const home = env.HOME ? [join(env.HOME, '.local', 'bin')] : []
  const path = [env.PATH ?? '', ...home, '/usr/local/bin', '/usr/bin'].join(':')
  return provider.program === null ? null : Bun.which(provider.program, { PATH: path })
}

/** `env`: of the attendant and the agent. */
export type Prepared = { folder: string; env: Readonly<Record<string, string>> }

/** Writes the files of an attempt: what is started, what it is told, its token. Nothing runs yet. */
export function prepare(job: Job, place: Place): Prepared {
  const { row, attempt, profile, provider } = job
  const folder = attemptFolder(place.dataDir, row.id, attempt.number)
  makeFolder(folder)
  const files = filesOf(folder)
  const mailbox: Record<string, string> = {
    M4A_TOKEN_FILE: files.token,
    M4A_DATA_DIR: place.dataDir,
    ...(place.socket === null ? { M4A_PORT: String(place.port()) } : { M4A_SOCKET: place.socket }),
    [RUN_VARIABLE]: attempt.run,
  }
  const started = provider.start({
    profile,
    mode: attempt.mode,
    session: attempt.session,
    file: (name) => join(folder, name),
    bridge: { command: [...place.program, 'mcp'], env: mailbox },
  })
  const program = programOf(profile, provider, place) ?? ''
  const [own = ''] = place.program
  const dirs = [dirname(program), ...(basename(own) === 'mail4agent' ? [dirname(own)] : [])]
  const env = environmentOf(place.env, { provider: provider.env, profile: profile.env }, dirs, {
    ...started.env,
    ...mailbox,
    M4A_ACCOUNT: job.account,
    M4A_DISPATCH: String(row.id),
    M4A_DEPTH: String(row.depth),
    ...(job.thread === null ? {} : { M4A_THREAD: job.thread }),
  })
  const spec: Spec = { program, args: started.args, cwd: profile.cwd, umask: place.umask }
  for (const [name, content] of Object.entries(started.files ?? {})) put(join(folder, name), content)
  put(files.prompt, job.prompt)
  put(files.token, job.secret)
  put(files.spec, JSON.stringify(spec))
  return { folder, env }
}

/**
 * Starts the attendant of a prepared attempt; resolves when it has ended, or could not be started.
 * It leads a session and a process group of its own, so that it outlives us.
 */
export function startAttendant({ folder, env }: Prepared, place: Place): Promise<void> {
  const [program = '', ...args] = [...place.program, 'dispatch', 'attend', folder]
  const child = spawn(program, args, { cwd: folder, env: { ...env }, detached: true, stdio: 'ignore' })
  child.unref()
  return new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
}

/**
 * The same below systemd, as a service of its own: one that stops takes its whole control group with it, and its restrictions
 * are not the agent's, systemd.kill(5). Resolves when the manager does not start it; what becomes of it then, its files tell.
 */
export function startTransient({ folder, env }: Prepared, run: string, place: Place): Promise<void> {
  put(filesOf(folder).env, JSON.stringify(env))
  const [program = '', ...args] = [...transientWords(run, folder), ...place.program, 'dispatch', 'attend', folder]
  const child = spawn(program, args, { cwd: folder, env: transientEnvironment(place.env), stdio: 'ignore' })
  child.unref()
  return new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('exit', (code) => {
      if (code !== 0) resolve()
    })
  })
}
