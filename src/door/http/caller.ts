// Who calls: bearer → account, connection → process, both → caller. Every route but /health goes through here.
import type { Attested, Verdict } from '../../attest/attestor.ts'
import type { Caller } from '../../engine/mail.ts'
import { unattested } from '../../identity/attested.ts'
import type { Said } from '../../identity/identify.ts'
import type { AccountRow } from '../../store/rows.ts'
import { LOOK_HEADER } from '../../wire/look.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { Door } from './door.ts'

/** How a request came. `attest` names the process at the other end, now; `isOpen` where the listener is told of ends. */
export type Connection = {
  readonly over: 'tcp' | 'unix'
  attest(): Verdict | Promise<Verdict>
  readonly isOpen?: () => boolean
}

/** Account and process of one request, both proved. */
export type Proof = { readonly account: AccountRow; readonly verdict: Verdict; readonly over: Connection['over'] }

const CONNECTION = Symbol('connection')
/** A property and not a WeakMap: those cost a collection of garbage more than the rest of a request. */
type Told = Request & { [CONNECTION]?: Connection }

/** The listener tells over which connection `request` came. */
export function cameOver(request: Told, connection: Connection): void {
  request[CONNECTION] = connection
}

/**
 * Who holds the bearer and the connection of `request`.
 * @throws Refusal `unauthenticated`, `rate_limited` where that is said too often, those of attestation, `attestation_down`,
 *   `too_many` open connections; `no_holder` for a request that came over no known connection
 */
export function prove(door: Door, request: Told): Proof | Promise<Proof> {
  const account = accountOf(door, request)
  const connection = connectionOf(request)
  const verdict = connection.attest()
  const proof = (verdict: Verdict): Proof => proved(door, account, verdict, connection)
  return verdict instanceof Promise ? verdict.then(proof) : proof(verdict)
}

function accountOf({ identity, mail }: Door, request: Request): AccountRow {
  try {
    return identity.account(request.headers.get('authorization'))
  } catch (error) {
    const wait = error instanceof Refusal ? mail.rates.unknown(mail.now()) : 0
    if (wait === 0) throw error
    const facts = { retry_after_ms: wait, connection: 'closed' }
    throw new Refusal(
      'rate_limited',
      'too many calls without a valid token',
      facts,
      'wait retry_after_ms; send a valid token',
    )
  }
}

function connectionOf(request: Told): Connection {
  const connection = request[CONNECTION]
  if (!connection) throw new Refusal('no_holder', 'the request came over no connection')
  return connection
}

/** Which process holds the connection, for the one call that has no bearer yet. Throws what `prove` throws but for that. */
export async function attested(door: Door, request: Told): Promise<Verdict> {
  return checkVerdict(door, await connectionOf(request).attest())
}

function proved(door: Door, account: AccountRow, verdict: Verdict, connection: Connection): Proof {
  const attested = checkVerdict(door, verdict)
  const isOpen = connection.isOpen ?? attested.isOpen
  if (isOpen) door.connections.called(account.id, attested.connection, isOpen)
  return { account, verdict: attested, over: connection.over }
}

/** @throws Refusal those of attestation, `attestation_down` */
export function checkVerdict({ health: { attestation } }: Door, verdict: Verdict): Attested {
  if (!verdict.ok) throw unattested(verdict)
  if (!attestation.ok) throw new Refusal('attestation_down', 'no caller can be proved', { reason: attestation.reason })
  return verdict
}

/** Whether a request says that it only looks. */
export const onlyLooks = (request: Request): boolean => request.headers.get(LOOK_HEADER) === '1'

/** As `callerOf`, for what may be asked without being a sign of life: of whoever says that it only looks, none is kept. */
export function lookerOf(door: Door, request: Request): Caller | Promise<Caller> {
  if (!onlyLooks(request)) return callerOf(door, request)
  const looker = ({ account, verdict }: Proof) => door.identity.look(account, verdict)
  const proof = prove(door, request)
  return proof instanceof Promise ? proof.then(looker) : looker(proof)
}

const NOTHING: Said = {}

/**
 * The caller of a plain HTTP request: a one-shot, which belongs to the session above it. Refusals of attestation and identity.
 * At once for a caller that is known, so that the usual request waits for nothing.
 */
export function callerOf(door: Door, request: Request): Caller | Promise<Caller> {
  const identified = ({ account, verdict }: Proof) => door.identity.caller(account, verdict, NOTHING, false)
  const proof = prove(door, request)
  return proof instanceof Promise ? proof.then(identified) : identified(proof)
}
