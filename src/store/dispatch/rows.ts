// The rows of dispatch: agents with their profiles, dispatches, their attempts. Times are milliseconds since the epoch.

/** How an agent is started, and who may have it started. Seconds are whole. */
export type Profile = {
  provider: string
  /** The executable, absolute; null: the provider's own name, found on the PATH of the mailbox. */
  program: string | null
  /** Arguments of the provider `command`. */
  args: readonly string[]
  cwd: string
  model: string | null
  permission: 'read' | 'edit' | 'full'
  maxTurns: number
  attempts: number
  startupSecs: number
  stallSecs: number
  attemptSecs: number
  totalSecs: number
  perDay: number
  depth: number
  /** Accounts that may have it started, beside persons; and those that may not, persons too. */
  allow: readonly string[]
  block: readonly string[]
  /** Variables of the mailbox's own environment that are passed on, beside those of the provider. */
  env: readonly string[]
}

export type AgentRow = {
  readonly account: number
  readonly profile: Profile
  /** Why it is paused; null: it is not. */
  readonly paused: string | null
  readonly pausedAt: number | null
  readonly created: number
}

export type DispatchState = 'queued' | 'running' | 'ending' | 'done'
export const OUTCOMES = ['replied', 'closed', 'ran', 'silent', 'failed', 'timed_out', 'stopped'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** Those that came to nothing, whoever is to blame. */
export const isFailed = (outcome: Outcome | null): boolean =>
  outcome === 'silent' || outcome === 'failed' || outcome === 'timed_out'

export type DispatchRow = {
  readonly id: number
  /** Account of the agent. */
  readonly agent: number
  /** Who asked: account, and box of its session. */
  readonly by: number
  readonly byBox: number
  /** The letter; null: the agent is only woken. */
  readonly message: number | null
  readonly thread: number | null
  readonly fresh: boolean
  /** How many runs lie between a person's word and this one; a person's own dispatch has 1. */
  readonly depth: number
  /** The dispatch in whose run this was asked for. */
  readonly parent: number | null
  /** The dispatch of whose end this one tells its dispatcher. */
  readonly backOf: number | null
  readonly state: DispatchState
  readonly outcome: Outcome | null
  /** In words: why it ended so. */
  readonly reason: string | null
  readonly created: number
  /** Not before. */
  readonly ready: number
  readonly started: number | null
  readonly ended: number | null
  /** Someone wants it to stop: who, and why. */
  readonly stop: string | null
  /** The answer that settled it, and the letter that told of its failure. */
  readonly reply: number | null
  readonly bounce: number | null
}

/** What an attempt ended with. */
export const CAUSES = [
  'replied',
  'closed',
  'ran',
  'silent',
  'left_children',
  'crashed',
  'hung_at_start',
  'hung',
  'rate_limited',
  'misconfigured',
  'session_lost',
  'max_turns',
  'timed_out',
  'interrupted',
  'not_started',
  'stopped',
] as const
export type Cause = (typeof CAUSES)[number]

export type AttemptRow = {
  readonly dispatch: number
  readonly number: number
  /** Public id, in the environment of every process of this attempt: 16 hex. */
  readonly run: string
  /** Ascends with every attempt of any dispatch; what an older one still does is not taken. */
  readonly fence: number
  /** SHA-256 of its token, hex. */
  readonly digest: string
  readonly provider: string
  readonly mode: 'resume' | 'fresh'
  /** The client's own id of the session; null until it is known. */
  readonly session: string | null
  readonly planned: number
  readonly pid: number | null
  readonly start: string | null
  readonly boot: string | null
  readonly spawned: number | null
  readonly healthy: number | null
  readonly ended: number | null
  readonly cause: Cause | null
  readonly detail: string | null
  readonly exit: number | null
  readonly signal: string | null
  /** It had to be killed: SIGTERM did not end it. */
  readonly forced: boolean
  /** Processes that it left behind, and that were ended. */
  readonly leftover: number
  readonly cost: number | null
  readonly turns: number | null
  readonly tokens: number | null
  /** End of its output, redacted. */
  readonly tail: string | null
}

export type NewDispatch = Pick<
  DispatchRow,
  'agent' | 'by' | 'byBox' | 'message' | 'thread' | 'fresh' | 'depth' | 'parent' | 'backOf'
>

/** What may be changed of each; a member that is left out stays. */
export type DispatchChange = Partial<
  Pick<DispatchRow, 'state' | 'outcome' | 'reason' | 'ready' | 'started' | 'ended' | 'stop' | 'reply' | 'bounce'>
>
export type AttemptChange = Partial<
  Omit<AttemptRow, 'dispatch' | 'number' | 'run' | 'fence' | 'digest' | 'provider' | 'mode' | 'planned'>
>
export type NewAttempt = Pick<AttemptRow, 'dispatch' | 'number' | 'run' | 'digest' | 'provider' | 'mode' | 'session'>

export type Pause = { reason: string; at: number }
