// Doorbells: after the commit of a message, its accounts' listeners are told that mail arrived. Best effort for each ring,
// but no message is forgotten: it rings again while nobody has opened it, also after a restart.
import type { BellHealth } from '../engine/mail.ts'
import type { EventRow } from '../store/rows.ts'
import type { Commit, Store } from '../store/store.ts'
import { LIMITS } from '../wire/limits.ts'
import { type Exchange, Line } from './line.ts'
import type { Patience } from './ring.ts'
import { DELAYS } from './schedule.ts'

export type Doorbells = {
  /** How the listener of an account (row id) fares. */
  health(account: number): BellHealth
  /** Ends every ring at once; what was not rung is, after the next start. */
  stop(): Promise<void>
}

type Sent = Extract<Commit, { kind: 'sent' }>

export type DoorbellOptions = {
  /** The mailbox's own TCP port, which is never dialled. */
  readonly ownPort: () => number
  readonly now?: () => number
  /** Milliseconds between the rings of one message. */
  readonly delays?: readonly number[]
  readonly patience?: Patience
}

/** Starts ringing: first for mail that is unopened already, then for each commit. */
export function startDoorbells(store: Store, options: DoorbellOptions): Doorbells {
  const stopping = new AbortController()
  const exchange: Exchange = {
    store,
    ownPort: options.ownPort,
    now: options.now ?? Date.now,
    delays: options.delays ?? DELAYS,
    patience: options.patience ?? { connectMs: 2_000, totalMs: 5_000 },
    signal: stopping.signal,
  }
  const lines = new Map<number, Line>()

  /** The line of an account that has a listener. */
  const lineOf = (account: number): Line | undefined => {
    if (!store.registry.listener(account)) return undefined
    const line = lines.get(account) ?? new Line(account, exchange)
    lines.set(account, line)
    return line
  }

  const unsubscribe = store.onCommit((commits) => {
    if (store.registry.listeners().length > 0) hear(commits, lineOf, store)
  })
  for (const { account } of store.registry.listeners()) lineOf(account)?.catchUp()

  return {
    health: (account) => lineOf(account)?.health() ?? { pending: 0, lastOk: null, lastError: null, lastErrorAt: null },
    async stop() {
      unsubscribe()
      stopping.abort()
      await Promise.all([...lines.values()].map((line) => line.stop()))
    },
  }
}

/** Sorts one batch of commits into the lines. Only mail rings: what became of mail (acks, receipts) rings nobody. */
function hear(commits: readonly Commit[], lineOf: (account: number) => Line | undefined, store: Store): void {
  let sent: Sent | null = null
  for (const commit of commits) {
    if (commit.kind === 'event') heed(commit.event, sent, lineOf, store)
    else {
      sent = commit
      if (commit.hop > LIMITS.hopQuiet) continue
      for (const to of commit.recipients) lineOf(to.account)?.add(commit.id, to.box)
    }
  }
}

/** `sent`: the send before this event, which is the one that superseded where something was. */
function heed(event: EventRow, sent: Sent | null, lineOf: (account: number) => Line | undefined, store: Store): void {
  const line = lineOf(event.account)
  if (!line) return
  if (event.reason === 'superseded') {
    const quiet = sent?.recipients.some((to) => to.account === event.account && sent.quiet.includes(to.box))
    line.supersede(event.message, sent && quiet ? sent.id : null)
  } else if (event.kind === 'opened' || event.kind === 'closed') line.seen(event.message)
  // an orphaned letter has become mail of the account
  const account = event.kind === 'released' ? store.registry.accountById(event.account) : undefined
  if (account) line.add(event.message, account.box)
}
