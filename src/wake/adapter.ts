// What a door into an idle agent is: who is to be woken, with which text, and what became of it. One file per door implements this.
import type { MessageId } from '../wire/names.ts'
import type { WakeOutcome } from '../wire/wake.ts'
import type { Letter } from './envelope.ts'

export { WAKE_OUTCOMES, type WakeOutcome } from '../wire/wake.ts'

/**
 * Which of the chain's ranks a door has: a running session's own first; what the owner or the agent armed; then what only
 * keeps the letter where the agent looks; a new process last, or before what only keeps where no process lives.
 */
export const WAKE_TIERS = ['session', 'armed', 'hook', 'notice', 'spool', 'spawn'] as const
export type WakeTier = (typeof WAKE_TIERS)[number]

/** The session to wake, as the mailbox knows it: attested and corroborated, nothing that it declared itself. */
export type WakeTarget = {
  readonly account: string
  /** `s-…`; null for the account itself, whatever runs of it. */
  readonly session: string | null
  /** Row id of the session; 0 where there is none. */
  readonly row: number
  /** `claude`, `codex`, `opencode` …; null where none was recognised. */
  readonly provider: string | null
  /** The client's own id of its session, and the conversation within one process. */
  readonly providerSession: string | null
  readonly conversation: string | null
  readonly cwd: string | null
  /** The executable of the session's process; null where it is not known. */
  readonly exe: string | null
  /** The live process; null where it has ended, or there is none. */
  readonly process: { readonly pid: number; readonly start: string } | null
  /** Does any process of the account live? */
  readonly attended: boolean
  /** Variables of that process's environment that its doors are found by (CODEX_HOME, CLAUDE_CONFIG_DIR, HOME …). */
  readonly environment: Readonly<Record<string, string>>
}

/** What the agent shall see. One wake may stand for several letters; `id` is the newest and the key by which a door knows a repetition. */
export type WakeLetter = {
  readonly id: MessageId
  readonly count: number
  /** Who wrote and how to read it, subjects escaped, without a body. */
  readonly text: string
  /** The same without anything that the sender wrote: for doors that show their input to others. */
  readonly plain: string
  /** The newest letter, for a program of the owner; null for a test. */
  readonly letter: Letter | null
  /** Compact addresses: whose mailbox it is, and the room where it came through one. */
  readonly to: string
  readonly room: string | null
}

/** Can this door be tried now? Asking changes nothing and is over in a second. `why` is for people, without secrets. */
export type Probe = { readonly ready: true; readonly busy: boolean } | { readonly ready: false; readonly why: string }

/** `detail` is for people: what was seen, never a URL, a key or text of mail. */
export type Woken = { readonly outcome: Exclude<WakeOutcome, 'no_door'>; readonly detail: string }

export interface WakeAdapter {
  /** `claude-rewake`, `codex-daemon`, … as shown and as the policy names it. */
  readonly id: string
  readonly tier: WakeTier
  /** Undocumented by its vendor, or stronger than a letter should be: tried only where the policy enables it. */
  readonly optIn: boolean
  /** Is it a door of that client at all? */
  serves(target: WakeTarget): boolean
  probe(target: WakeTarget, signal: AbortSignal): Promise<Probe>
  /**
   * Tries once. Answers no permission question, and passes no gate that the user set. Rejects only for a fault of its own;
   * that counts as `unknown`, and the next door is not tried: the letter may have arrived.
   */
  wake(target: WakeTarget, letter: WakeLetter, signal: AbortSignal): Promise<Woken>
}

export const ready = (busy = false): Probe => ({ ready: true, busy })
export const notReady = (why: string): Probe => ({ ready: false, why })
export const woken = (outcome: Woken['outcome'], detail: string): Woken => ({ outcome, detail })
