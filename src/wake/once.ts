// One wake: the doors of whoever may be woken, with the letters it stands for.
import type { Mail } from '../engine/mail.ts'
import { wakePolicy } from '../engine/wake/policy.ts'
import type { AccountRow, MessageRow, SessionRow } from '../store/rows.ts'
import type { WakeAdapter } from './adapter.ts'
import { linksOf, type Result, wakeThrough } from './chain.ts'
import { wakeLetter } from './letter.ts'
import { writersOf } from './sift.ts'
import { type Targets, targetsOf } from './targets.ts'

/** The letter is in the agent's hands, or may be: it is not brought a second time. */
export const isTaken = (outcome: string): boolean => ['started', 'queued', 'held', 'unknown'].includes(outcome)

/** `wanted`: ascending, one at least. Never rejects for a door. */
export async function wakeOnce(
  options: Targets & { mail: Mail; adapters: readonly WakeAdapter[] },
  account: AccountRow,
  session: SessionRow | null,
  wanted: readonly MessageRow[],
  stop: AbortSignal,
): Promise<Result> {
  const { store } = options.mail
  const policy = wakePolicy(store, account, session)
  const targets = targetsOf(options, account, session, writersOf(wanted))
  const links = linksOf(options.adapters, targets, policy)
  const newest = Math.max(...wanted.map(({ id }) => id))
  // the hooks of the turn that this starts have nothing to add; where none starts they have
  const before = targets.flatMap(({ row }) => {
    const one = row === 0 ? null : store.sessionById(row)
    if (!one || one.told >= newest) return []
    const { told } = one
    one.told = newest
    return [{ one, told }]
  })
  const letter = wakeLetter(options.mail, account, session, wanted)
  const result = await wakeThrough(links, letter, policy.quiet, stop)
  for (const { one, told } of before)
    if (one.told === newest && (one.id !== result.target?.row || !isTaken(result.outcome))) one.told = told
  return result
}
