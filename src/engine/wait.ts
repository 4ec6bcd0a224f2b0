// Waiting for mail: the door's cap, parked between tries, and the right to read looked at again after each waking.
import { LIMITS } from '../wire/limits.ts'
import { denied, Refusal } from '../wire/refusal.ts'
import type { Caller, Mail, Patience } from './mail.ts'
import { tooMany } from './turns.ts'

/**
 * For a caller that has just looked in vain: parks until `arrived` says yes, the wait is over or the client has left. Time
 * running out is no error. Resolves to the seconds waited, to the millisecond.
 * @throws Refusal `too_many`, before it parks; `unauthenticated` or `permission_denied` where the account lost its right while it waited
 */
export async function waitFor(
  mail: Mail,
  caller: Caller,
  seconds: number,
  patience: Patience,
  arrived: () => boolean,
): Promise<number> {
  // durations by the monotonic clock: a wait is as long as it was, whatever happens to the time of day
  const start = performance.now()
  const end = start + Math.min(seconds, patience.capSeconds) * 1000
  const boxes = [caller.session.box, caller.account.box]
  checkRoom(mail, caller.account.box)
  for (let left = end - start; left > 0 && !patience.signal.aborted; left = end - performance.now()) {
    const woken = await mail.parking.wait(boxes, left, patience.signal, arrived)
    checkStillAllowed(mail, caller)
    if (arrived() || !woken) break
  }
  return Math.round(performance.now() - start) / 1000
}

/** Every reader of an account is parked on the account's box, too. */
function checkRoom({ parking }: Mail, box: number): void {
  if (parking.parked(box) >= LIMITS.waitsAccount) throw tooMany('waits', LIMITS.waitsAccount)
  if (parking.size >= LIMITS.waitsAll) throw tooMany('waits', LIMITS.waitsAll, 'the mailbox')
}

function checkStillAllowed(mail: Mail, caller: Caller): void {
  const account = mail.store.registry.account(caller.account.name)
  if (account?.id !== caller.account.id || account.digest !== caller.account.digest)
    throw new Refusal('unauthenticated', 'the token was withdrawn while the call waited')
  if (!account.can.read && !account.can.operator) throw denied('read')
}
