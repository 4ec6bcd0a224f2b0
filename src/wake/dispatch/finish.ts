// The end of a dispatch: its dispatcher is told, once however often this is tried, and the lease is given back.
import { admit } from '../../engine/dispatch/admit.ts'
import { writeAsMailbox } from '../../engine/system.ts'
import type { DispatchRow, NewDispatch, Outcome } from '../../store/dispatch/rows.ts'
import type { MessageRow, SessionRow } from '../../store/rows.ts'
import { Refusal } from '../../wire/refusal.ts'
import { bounceText } from './bounce.ts'
import { recipientOf } from './dispatcher.ts'
import { settledBy } from './settled.ts'
import type { Shop } from './shop.ts'

/** Ends a dispatch without a further attempt. */
export async function conclude(shop: Shop, row: DispatchRow, outcome: Outcome, reason: string | null): Promise<void> {
  await shop.store.dispatches.change(row.id, { state: 'ending', outcome, reason })
  await finish(shop, { ...row, state: 'ending', outcome, reason })
}

/** Tells the dispatcher, once however often this is tried, and gives the lease back. */
export async function finish(shop: Shop, row: DispatchRow): Promise<void> {
  const { dispatches } = shop.store
  const outcome = row.outcome ?? 'failed'
  const { reply } = settledBy(shop.store, row)
  const bounce = TOLD.has(outcome) && row.backOf === null ? await bounceOf(shop, row, outcome) : null
  const { back, release } = await backOf(shop, row, reply ?? bounce)
  try {
    await dispatches.end(row.id, { outcome, reply, bounce }, back)
  } finally {
    release()
  }
  shop.log('a dispatch has ended', { dispatch: row.id, outcome })
}

async function bounceOf(shop: Shop, row: DispatchRow, outcome: Outcome): Promise<number | null> {
  const { registry, dispatches } = shop.store
  const to = recipientOf(shop.store, row.by, row.byBox, shop.mail().alive)
  if (!to) return null
  const letter = row.message === null ? null : shop.store.message(row.message)
  const text = bounceText({
    row,
    agent: registry.accountById(row.agent)?.name ?? 'an agent that is gone',
    outcome,
    reason: row.reason,
    attempts: dispatches.attempts(row.id),
    letter,
  })
  const key = `bounce-${row.id}`
  return writeAsMailbox(shop.store, { to: [to], ...text, parent: letter, key, upsert: null })
}

/** Who asked out of a run of its own, and does not run any more, is started again to read what came of it. */
async function backOf(
  shop: Shop,
  row: DispatchRow,
  news: number | null,
): Promise<{ back: NewDispatch | null; release: () => void }> {
  const none = { back: null, release: () => {} }
  const to = shop.store.registry.accountById(row.by)
  const message = news === null ? null : shop.store.message(news)
  if (row.parent === null || !message || !to || !shop.store.dispatches.agent(row.by)) return none
  const by = shop.store.registry.accountById(row.agent)
  if (!by) return none
  const { session } = await writerOf(shop, message)
  try {
    const admitted = admit(shop.mail(), { account: by, session }, to, {
      fresh: false,
      hop: message.hop,
      back: { of: row.id, depth: row.depth + 1, message: message.id, thread: message.thread },
    })
    return { back: admitted.row, release: admitted.release }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    shop.log('a dispatcher is not started again', { dispatch: row.id, why: error.kind })
    return none
  }
}

/** Who wrote the news: a session of the agent, or the mailbox itself. */
async function writerOf({ store }: Shop, { senderBox }: MessageRow): Promise<{ session: SessionRow }> {
  const session = store.registry.sessionByBox(senderBox)
  return session ? { session } : store.people.system()
}

/** Outcomes of which nobody else tells the dispatcher. */
const TOLD: ReadonlySet<Outcome> = new Set(['silent', 'failed', 'timed_out', 'stopped', 'closed'])
