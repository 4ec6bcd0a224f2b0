// What every check is given: the machine, where the mailbox should be, what is known of the one that runs, and how to ask it.
import type { MailClient } from '../../client/client.ts'
import type { Refusal } from '../../wire/refusal.ts'
import type { Machine, Us } from '../machine.ts'
import type { Installation } from '../record.ts'
import type { ServiceStep, ServiceTarget } from '../service-step.ts'
import type { Found } from './finding.ts'
import type { Presence } from './presence.ts'
import type { Readers } from './readers.ts'

export type Checkup = {
  readonly machine: Machine
  readonly us: Us
  /** How a person calls us on this data folder, as shell text: `mail4agent`. */
  readonly call: string
  readonly dataDir: string
  /** The port that a mailbox started now would take; null: any free one. */
  readonly port: number | null
  /** The socket that it would take; null where there is none (Windows). */
  readonly socket: string | null
  /** The mailbox as it is now; looked at once. */
  presence(): Promise<Presence>
  /** Who reads mail; looked at once. A refusal: no account could ask. */
  readers(): Promise<Readers | Refusal>
  /** The path of our own configuration, and the switches in it that are on. @throws Refusal `usage` */
  settings(): { path: string; on: string[] }
  /** What `up` wrote. @throws Refusal `damaged_store` */
  record(): Installation
  /** The agent client that runs us, which is also the name of its account; null: a person does. */
  self(): Promise<string | null>
  /** The accounts whose secrets are on this machine. */
  tokenNames(): string[]
  /** The secret of an account; null where it is not here. @throws Refusal `bad_permissions` */
  token(account: string): string | null
  /** The mailbox as the account of `token`. `looks`: what is asked is no sign of life of that account. The caller closes it. */
  open(token: string, looks: boolean): MailClient
  /** The service manager, and what it is to run. @throws Refusal `damaged_store` as `record` */
  service(): { step: ServiceStep | null; target: ServiceTarget }
  /** Starts the mailbox again in the way in which `up` had started it; resolves to how. @throws Refusal */
  start(): Promise<string>
  /** Milliseconds since the epoch. */
  now(): number
}

/** A row of the table of checks. */
export type Check = {
  readonly name: string
  /** Milliseconds; a check that takes longer is a finding itself. */
  readonly deadline: number
  /** It keeps the processor to itself, so it runs when the others have ended. */
  readonly alone?: true
  readonly run: (checkup: Checkup) => Finds | Promise<Finds>
}

type Finds = Found | Found[]
