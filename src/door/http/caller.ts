// Who calls: bearer → account, connection → process, both → caller. Every route but /health goes through here.
import type { Verdict } from '../../attest/attestor.ts'
import type { Caller } from '../../engine/mail.ts'
import { unattested } from '../../identity/attested.ts'
import type { Said } from '../../identity/identify.ts'
import type { AccountRow } from '../../store/rows.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { Door } from './door.ts'

/** How a request came. `attest` names the process at the other end, now. */
export type Connection = { readonly over: 'tcp' | 'unix'; attest(): Verdict | Promise<Verdict> }

/** Account and process of one request, both proved. */
export type Proof = { readonly account: AccountRow; readonly verdict: Verdict; readonly over: Connection['over'] }

const connections = new WeakMap<Request, Connection>()

/** The listener tells over which connection `request` came. */
export function cameOver(request: Request, connection: Connection): void {
  connections.set(request, connection)
}

/**
 * Who holds the bearer and the connection of `request`.
 * @throws Refusal `unauthenticated`, those of attestation, `attestation_down`; `no_holder` for a request that came over no known connection
 */
export async function prove(door: Door, request: Request): Promise<Proof> {
  const account = door.identity.account(request.headers.get('authorization'))
  const connection = connections.get(request)
  if (!connection) throw new Refusal('no_holder', 'the request came over no connection')
  const verdict = await connection.attest()
  if (!verdict.ok) throw unattested(verdict)
  const { attestation } = door.health
  if (!attestation.ok) throw new Refusal('attestation_down', 'no caller can be proved', { reason: attestation.reason })
  return { account, verdict, over: connection.over }
}

const NOTHING: Said = {}

/** The caller of a plain HTTP request: a one-shot, which belongs to the session above it. Refusals of attestation and identity. */
export async function callerOf(door: Door, request: Request): Promise<Caller> {
  const { account, verdict } = await prove(door, request)
  return door.identity.caller(account, verdict, NOTHING, false)
}
