// What became of mail that crossed: told to the machine that it came from, and believed of the machine that it went to.
import type { Mail } from '../../engine/mail.ts'
import type { LinkStore } from '../../store/link/link-store.ts'
import type { EventRow, MessageRow } from '../../store/rows.ts'
import type { CloseReason } from '../../wire/letter.ts'
import { messageId, randomOf, sequenceOf } from '../../wire/names.ts'
import type { Peer } from '../peers.ts'
import { partOf } from './compose.ts'
import type { Refused } from './deliver.ts'
import type { ReceiptEnvelope } from './envelope.ts'
import { machineOf, type Remotes, targetOf } from './remotes.ts'

export type Due = { peer: string; receipt: string }

/** The receipt that an event of ours makes due, where it is about a peer's mail. */
export function receiptFor(mail: Mail, links: LinkStore, event: EventRow): Due | null {
  if (event.kind !== 'opened' && event.kind !== 'closed') return null
  const message = mail.store.message(event.message)
  const sender = message ? mail.store.registry.accountById(message.account) : undefined
  if (!message || sender?.kind !== 'remote') return null
  const peer = machineOf(sender)
  const theirs = links.theirs(peer, 'message', message.id)
  const to = message.recipients.find((one) => one.account === event.account)
  if (theirs === null || !to) return null
  const session = event.session === null ? null : mail.store.sessionById(event.session)
  const account = session && mail.store.registry.accountById(session.account)
  const receipt: ReceiptEnvelope = {
    v: 1,
    kind: 'receipt',
    id: theirs,
    to: to.text,
    state: event.kind,
    by: session && account ? { account: account.name, session: session.name } : null,
    reason: event.reason,
  }
  return { peer, receipt: JSON.stringify(receipt) }
}

export function refusalReceipt(peer: Peer, id: string, { to, refusal }: Refused): Due {
  const reason = `${refusal.kind}: ${refusal.message}`.slice(0, 500)
  const receipt: ReceiptEnvelope = { v: 1, kind: 'receipt', id, to, state: 'refused', by: null, reason }
  return { peer: peer.name, receipt: JSON.stringify(receipt) }
}

const REASONS: readonly CloseReason[] = ['acknowledged', 'replied', 'superseded', 'session_ended']

/** Marks our message as that machine says; of mail that never went there it may say nothing. */
export async function heedReceipt(
  mail: Mail,
  links: LinkStore,
  remotes: Remotes,
  peer: Peer,
  receipt: ReceiptEnvelope,
): Promise<void> {
  const message = mail.store.message(sequenceOf(receipt.id))
  if (!message || message.random !== randomOf(receipt.id)) return
  for (const { to, account } of partOf(mail, message, peer.name)) {
    // a session that was written to by a prefix is told back by its whole id
    const target = targetOf(to, account).toLowerCase()
    if (!receipt.to.toLowerCase().startsWith(target)) continue
    if (receipt.to.length !== target.length && !target.includes('/')) continue
    if (receipt.state === 'refused') {
      links.outbox.refuse(message.id, to.box, receipt.reason ?? 'refused')
      continue
    }
    const by = await actor(remotes, peer, receipt)
    // the reader's boxes are those of this delivery, whoever there opened it
    const session = { ...by, box: to.box }
    if (receipt.state === 'opened') await mail.store.open({ ...account, box: to.box }, session, { ids: [message.id] })
    else {
      const reason = REASONS.find((one) => one === receipt.reason) ?? 'acknowledged'
      await mail.store.settle({ ...account, box: to.box }, session, [message.id], reason)
      if (isSettled(mail, message, peer)) links.outbox.settled(peer.name, message.id)
    }
  }
}

async function actor(remotes: Remotes, peer: Peer, { by, to }: ReceiptEnvelope) {
  const account = await remotes.account(by?.account ?? to, peer.name)
  return remotes.session(account, by?.session ?? 's-0000')
}

const isSettled = (mail: Mail, message: MessageRow, peer: Peer): boolean =>
  partOf(mail, message, peer.name).every(({ to }) => mail.store.delivery(message.id, [to.box])?.closed === 1)

/** The id under which a message of ours is told to others. */
export const idOf = (message: MessageRow): string => messageId(message.id, message.random)
