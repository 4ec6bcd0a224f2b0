// How `up`, `down` and `service` see the service: something that can be planned, installed, asked and removed. Which one, the system decides.
import type { Us } from './machine.ts'

/** What the service is to run, and where it keeps its data. */
export type ServiceTarget = {
  us: Us
  dataDir: string
  home: string
  env: Readonly<Record<string, string | undefined>>
  /** What the caller asked for, or null: then the mailbox takes what it always does. */
  port: number | null
  socket: string | null
  /** Whose it is: the name of the user that it runs as. */
  user: string
}

/** A file that the service adds, with its whole text, or a command that it runs: what `up --dry-run` and `--print` show. */
export type ServiceChange = { what: string; path?: string; text?: string }

export type ServiceState = {
  manager: string
  name: string
  /** The file that describes it; null where the manager keeps that to itself. */
  file: string | null
  installed: boolean
  active: boolean
  /** In the manager's own words: `active (running)`. */
  state: string
  pid: number | null
  /** How often it was started again since it was asked to start; null where the manager does not count. */
  restarts: number | null
  /** Why it does not run, or what it says of itself; null where nothing is known. */
  reason: string | null
}

/** Where its log is: a file, or what a command of the manager prints. */
export type ServiceLog = { file: string } | { command: readonly [string, ...string[]] }

export interface ServiceStep {
  /** What a person should know once it is installed, in one line; or null. */
  readonly note: string | null
  /** What `install` does, whatever is in place here; also on a machine that has no such manager. */
  describe(target: ServiceTarget): ServiceChange[]
  /** Why this machine cannot do it; null: it can. */
  unavailable(target: ServiceTarget): Promise<string | null>
  /** What `install` would do; nothing where it is in place. Null: this machine has no service manager for a user. */
  plan(target: ServiceTarget): Promise<ServiceChange[] | null>
  /** Installs and starts it; one that is in place is started. @throws Refusal; nothing is left behind then */
  install(target: ServiceTarget): Promise<void>
  /** Stops and removes it; nothing happens where there is none. */
  uninstall(target: ServiceTarget): Promise<void>
  isActive(target: ServiceTarget): Promise<boolean>
  /** @throws Refusal `service_failed` with the reason of the manager */
  start(target: ServiceTarget): Promise<void>
  stop(target: ServiceTarget): Promise<void>
  state(target: ServiceTarget): Promise<ServiceState>
  log(target: ServiceTarget, lines: number, follow: boolean): ServiceLog
}
