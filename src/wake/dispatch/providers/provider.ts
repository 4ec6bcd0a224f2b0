// What a provider is: how one agent client is started without anybody watching, and how its output is read.
import type { Profile } from '../../../store/dispatch/rows.ts'

/** The bridge that gives the agent its mailbox, under the name that `up` gives it too, so that it takes that one's place. */
export type Bridge = { command: readonly string[]; env: Readonly<Record<string, string>> }
export const SERVER = 'mail4agent'

export type Setup = {
  profile: Profile
  mode: 'resume' | 'fresh'
  /** To go on with; of a fresh one: the id it is to have, where the client takes one. */
  session: string | null
  /** Absolute path for a file of the attempt. */
  file: (name: string) => string
  bridge: Bridge
}

/** `files`: name → content, made before the start. Arguments hold nothing of a letter and no secret. */
export type Start = { args: readonly string[]; env?: Record<string, string>; files?: Record<string, string> }

/** What the output has told so far. */
export type Progress = {
  session: string | null
  turns: number | null
  cost: number | null
  tokens: number | null
  /** What the client itself calls an error, last one; never scanned out of other text. */
  error: string | null
  status: number | null
  maxTurns: boolean
  /** What the agent said last, in words. */
  said: string | null
  /** Tools that were called and have not answered. */
  tools: Set<string>
  /** Lines of its own format. */
  events: number
}

export const nothingYet = (): Progress => ({
  session: null,
  turns: null,
  cost: null,
  tokens: null,
  error: null,
  status: null,
  maxTurns: false,
  said: null,
  tools: new Set(),
  events: 0,
})

export interface Provider {
  readonly name: string
  /** Its executable; null: the profile names it. */
  readonly program: string | null
  /** Names of variables that its client takes from the environment. */
  readonly env: readonly string[]
  /** A fresh session can be given an id. */
  readonly mints: boolean
  start(setup: Setup): Start
  /** One line of output that is a JSON object. */
  read(event: Event, progress: Progress): void
}

export type Event = { readonly [name: string]: unknown }

export const isEvent = (value: unknown): value is Event =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
export const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null
export const eventOf = (value: unknown): Event => (isEvent(value) ? value : {})
export const eventsOf = (value: unknown): Event[] => (Array.isArray(value) ? value.filter(isEvent) : [])
/** A sum where one part may be unknown. */
export const plus = (a: number | null, b: number | null): number | null => (b === null ? a : (a ?? 0) + b)
