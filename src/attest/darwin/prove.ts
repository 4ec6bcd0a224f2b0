// From a socket to its one holder, and the patience that a fork in flight needs.
import type { AttestRefusal, Verdict } from '../attestor.ts'
import { refuse } from '../refuse.ts'
import { type Holder, type Match, searchAll } from './holders.ts'

/** Before exec closes them, a forked child has all descriptors of its parent for a moment. So long we wait, in ms. */
const WAITS = [3, 15, 60]

/** Repeats `attempt` where it found too many holders, or none. Every verdict comes out of one attempt, nothing awaited inside. */
export function patiently(attempt: () => Verdict): Verdict | Promise<Verdict> {
  const first = attempt()
  return passes(first) ? again(first, attempt) : first
}

const passes = (verdict: Verdict): boolean =>
  !verdict.ok && (verdict.kind === 'shared_connection' || verdict.kind === 'no_holder')

async function again(first: Verdict, attempt: () => Verdict): Promise<Verdict> {
  let verdict = first
  for (const pause of WAITS) {
    if (!passes(verdict)) break
    await Bun.sleep(pause)
    verdict = attempt()
  }
  return verdict
}

/**
 * The only process that has the socket, after a look at all of them. `shared` without a second descriptor to be seen means
 * that somebody has it whom we cannot see: another user's process, or a message on its way.
 */
export function soleHolder(match: Match, euid: number, seen: AttestRefusal['seen']): Holder | AttestRefusal {
  const search = searchAll(match, euid)
  if (search === null) return refuse('unreadable', { ...seen, processes: 'not listed' })
  const { holders, unreadable, processes } = search
  const [holder] = holders
  if (holder === undefined)
    return unreadable.length > 0
      ? refuse('unreadable', { ...seen, processes, pids: unreadable.join() })
      : refuse('no_holder', { ...seen, processes })
  if (holders.length > 1) return refuse('shared_connection', { ...seen, holders: holders.map(({ pid }) => pid).join() })
  if (holder.socket.shared && holder.count === 1)
    return refuse('shared_connection', { ...seen, holders: holder.pid, hidden: 1 })
  return holder
}
