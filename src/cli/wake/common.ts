// What the wake commands share: whose mailbox is meant, and how a policy reads.
import { parseAddress } from '../../wire/address.ts'
import type { KeptKey, WakePolicy, WakeStatus } from '../../wire/wake.ts'
import type { Context } from '../context.ts'
import { clock } from '../times.ts'
import { usage } from '../usage.ts'

export type Whose = { account: string; session: string | null }

/** `claude` or `claude/s-7f3a`. */
export function whoseOf(word: string): Whose {
  const address = parseAddress(word.replace(/^@/, ''))
  if (address.kind === 'room' || address.machine !== undefined)
    throw usage('that is no mailbox of this machine', 'write an account, or account/s-…')
  return { account: address.participant, session: address.kind === 'session' ? address.session : null }
}

const names = (list: readonly string[]): string => list.join(', ')

export function policyText({ damaged, enabled, mode, quiet, allow, block, on, off }: WakePolicy): string {
  if (damaged !== null) return `damaged, so nothing is woken: ${damaged}`
  return [
    enabled ? mode : `${mode}, switched off`,
    ...(quiet ? ['not while it is at work'] : []),
    ...(allow === null ? [] : [allow.length === 0 ? 'from nobody' : `only from ${names(allow)}`]),
    ...(block.length === 0 ? [] : [`not from ${names(block)}`]),
    ...(on.length === 0 ? [] : [`with ${names(on)}`]),
    ...(off.length === 0 ? [] : [`without ${names(off)}`]),
  ].join('; ')
}

export const addressOf = ({ account, session }: Pick<WakeStatus, 'account' | 'session'>): string =>
  session === null ? account : `${account}/${session}`

export const lastText = ({ state, source, at }: WakeStatus): string | null =>
  state === null || at === null ? null : `${state}${source === null ? '' : ` through ${source}`}, ${clock(at)}`

/** Where the keys of doors lie; the mailbox tells neither address nor key. */
export const keyRows = (context: Context, keys: readonly KeptKey[]): string =>
  context.table(
    ['door', 'key from', 'since', 'state'],
    keys.map(({ door, source, at, state }) => [door, source, at === null ? '' : clock(at), state]),
  )
