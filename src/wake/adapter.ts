// What a door into an idle agent is: who is to be woken, with which text, and what became of it. One file per door implements this.
import type { MessageId } from '../wire/names.ts'

/**
 * What a wake came to. `started`: a turn was seen to begin; `queued`: accepted, the agent is busy or will see it with its next
 * turn; `held`: its user has to approve; `stored`: kept where the agent looks, no process took it; `refused`: the door said no;
 * `unknown`: the bytes left, and nothing tells what became of them; `no_door`: none could be tried.
 */
export const WAKE_OUTCOMES = ['started', 'queued', 'held', 'stored', 'refused', 'unknown', 'no_door'] as const
export type WakeOutcome = (typeof WAKE_OUTCOMES)[number]

/** Which of the chain's ranks a door has: a running session's own first, a new process last. */
export const WAKE_TIERS = ['session', 'armed', 'hook', 'notice', 'spool', 'spawn'] as const
export type WakeTier = (typeof WAKE_TIERS)[number]

/** The session to wake, as the mailbox knows it: attested and corroborated, nothing that it declared itself. */
export type WakeTarget = {
  readonly account: string
  /** `s-…`; null where no session lives and only a new process can help. */
  readonly session: string | null
  /** `claude`, `codex`, `opencode` …; null where none was recognised. */
  readonly provider: string | null
  /** The client's own id of its session, and the conversation within one process. */
  readonly providerSession: string | null
  readonly conversation: string | null
  readonly cwd: string | null
  /** The live process; null where it has ended. */
  readonly process: { readonly pid: number; readonly start: string } | null
  /** Variables of that process's environment that its doors are found by (CODEX_HOME, CLAUDE_CONFIG_DIR, HOME …). */
  readonly environment: Readonly<Record<string, string>>
}

/** What the agent shall see. One wake may stand for several letters; `id` is the newest and the key by which a door knows a repetition. */
export type WakeLetter = { readonly id: MessageId; readonly count: number; readonly text: string }

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
