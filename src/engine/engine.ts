// What a mailbox does. Every door calls run(): one table of operations, one check of capabilities, nothing decided elsewhere.
//
// A letter is stored once (send.ts) and lies as a delivery in the box of each account or session that it went to
// (recipients.ts). A session reads two boxes, its account's and its own (inbox.ts). Reading only notifies; get and a cursor
// that passes a letter open it (attention.ts); ack, close and a closing reply close it (batch.ts, send.ts). What a caller may
// read at all is decided by one function (may-read.ts). Letters are kept as JSON text and go out as text (fragment.ts, letter.ts).
import type { Json } from '../wire/json.ts'
import { type AnswerOf, OPERATIONS, type OperationName, type RequestOf } from '../wire/operations.ts'
import { denied } from '../wire/refusal.ts'
import { ack } from './ack.ts'
import { alias } from './alias.ts'
import { archive } from './archive.ts'
import { claim } from './claim.ts'
import { closeAll } from './close-all.ts'
import { contacts } from './contacts.ts'
import { directory } from './directory.ts'
import { dispatchLogs } from './dispatch/logs.ts'
import { dispatchShow } from './dispatch/show.ts'
import { dispatchStatus } from './dispatch/status.ts'
import { dispatchStop } from './dispatch/stop.ts'
import { dispatchWake } from './dispatch/wake.ts'
import { exportMail } from './export.ts'
import { follow } from './follow.ts'
import { get } from './get.ts'
import { inbox } from './inbox.ts'
import type { Caller, Mail, Patience } from './mail.ts'
import { notice } from './notice.ts'
import { notify } from './notify.ts'
import { ping } from './ping.ts'
import { receipts } from './receipts.ts'
import { reopen } from './reopen.ts'
import { join, leave, rooms } from './rooms.ts'
import { search } from './search.ts'
import { send } from './send.ts'
import { sent } from './sent.ts'
import { standBy } from './stand-by.ts'
import { stats } from './stats.ts'
import { status } from './status.ts'
import { thread } from './thread.ts'
import { unread } from './unread.ts'
import { whoami } from './whoami.ts'

/** An operation answers its wire object, or the same as ready JSON text. */
export type Answer<N extends OperationName> = AnswerOf<N> | Json

type Operate<N extends OperationName> = (
  mail: Mail,
  caller: Caller,
  request: RequestOf<N>,
  patience?: Patience,
) => Answer<N> | Promise<Answer<N>>

export const OPERATE: { [N in OperationName]: Operate<N> } = {
  send,
  inbox,
  get,
  ack,
  close: ack,
  reopen,
  claim,
  unread,
  notice,
  sent,
  thread,
  search,
  receipts,
  archive,
  export: exportMail,
  whoami,
  status,
  directory,
  ping,
  follow,
  close_all: closeAll,
  contacts,
  alias,
  rooms,
  join,
  leave,
  stats,
  notify,
  dispatch_wake: dispatchWake,
  dispatch_status: dispatchStatus,
  dispatch_show: dispatchShow,
  dispatch_logs: dispatchLogs,
  dispatch_stop: dispatchStop,
  stand_by: standBy,
}

/**
 * Runs an operation for a caller. `request` has passed the operation's schema; null members count as absent.
 * @throws Refusal `permission_denied`, and those of the operation
 */
export function run<N extends OperationName>(
  mail: Mail,
  name: N,
  caller: Caller,
  request: RequestOf<N>,
  patience?: Patience,
): Answer<N> | Promise<Answer<N>> {
  checkCapability(caller, name)
  return mail.rates.turns.within(caller.account.id, isWait(request), () => {
    if (!caller.looks) mail.wakes.heard(caller.session, name)
    return OPERATE[name](mail, caller, request, patience)
  })
}

/** Who waits for mail is at work only until it is parked. */
const isWait = (request: object): boolean =>
  'wait_secs' in request && typeof request.wait_secs === 'number' && request.wait_secs > 0

/** An operator may read and dispatch; that it may send has to be granted like everybody's. */
function checkCapability({ account }: Caller, name: OperationName): void {
  const { need } = OPERATIONS[name]
  if (need === null || account.can[need]) return
  if ((need === 'read' || need === 'dispatch') && account.can.operator) return
  throw denied(need)
}
