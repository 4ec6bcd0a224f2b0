// How `up` and `down` see the service: something that can be planned, installed, asked and removed. Which one, the system decides.
import type { Us } from './machine.ts'

/** What the service is to run, and where it keeps its data. */
export type ServiceTarget = { us: Us; dataDir: string; home: string; env: Readonly<Record<string, string | undefined>> }

/** A file that the service adds, with its whole text, or a command that it runs: what `up --dry-run` shows. */
export type ServiceChange = { what: string; path?: string; text?: string }

export interface ServiceStep {
  /** What `install` would do; nothing where it is in place. Null: this machine has no service manager for a user. */
  plan(target: ServiceTarget): Promise<ServiceChange[] | null>
  /** Installs and starts it. @throws Refusal; nothing is left behind then */
  install(target: ServiceTarget): Promise<void>
  /** Stops and removes it; nothing happens where there is none. */
  uninstall(target: ServiceTarget): Promise<void>
  isActive(target: ServiceTarget): Promise<boolean>
}
