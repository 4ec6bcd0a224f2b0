// Mail of a peer into our mailboxes: only what its allow-list lets in, once, and under the name that the pin gives the machine.
import { isLive } from '../../engine/drained.ts'
import { fragmentOf, threadOf } from '../../engine/fragment.ts'
import type { Mail } from '../../engine/mail.ts'
import { deliveriesOf, type Resolved } from '../../engine/recipients.ts'
import { sessionNamed } from '../../engine/session.ts'
import type { LinkStore } from '../../store/link/link-store.ts'
import { KIND, type MessageRow, type Recipient } from '../../store/rows.ts'
import { type Address, formatAddress, parseAddress } from '../../wire/address.ts'
import { LIMITS } from '../../wire/limits.ts'
import { canonical, messageId, randomOf, sequenceOf } from '../../wire/names.ts'
import { malformed, Refusal } from '../../wire/refusal.ts'
import { checkBody, checkLine } from '../../wire/text.ts'
import type { Peer } from '../peers.ts'
import type { Known, MailEnvelope } from './envelope.ts'
import type { Remotes } from './remotes.ts'

/** Addresses that did not take it, and why. */
export type Refused = { to: string; refusal: Refusal }

/**
 * Stores it and resolves when it is on the disk; what was stored before under that id is left as it is. Resolves to the
 * addresses that were refused. `known`: it was there before we saw it, and wakes nobody. @throws Refusal where the store cannot take it now (`busy`, `store_unavailable`)
 */
export async function deliver(
  mail: Mail,
  links: LinkStore,
  remotes: Remotes,
  peer: Peer,
  envelope: MailEnvelope,
  known = false,
): Promise<Refused[]> {
  const refused: Refused[] = []
  const parent = envelope.reply_to ? messageOf(mail, links, peer, 'message', envelope.reply_to) : null
  const accept = (to: string): Resolved[] => {
    try {
      return [resolveFor(mail, peer, to, parent)]
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      refused.push({ to, refusal: error })
      return []
    }
  }
  const resolved = envelope.to.flatMap(accept)
  const recipients = deliveriesOf(resolved)
  const hop = peer.person ? 0 : Math.max(envelope.hop, parent?.hop ?? 0) + 1 // a person begins anew, as here
  try {
    checkContent(envelope, hop)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return envelope.to.map((to) => ({ to, refusal: error }))
  }
  if (recipients.length > 0) await store(mail, links, remotes, peer, envelope, { recipients, parent, hop, known })
  return refused
}

async function store(
  mail: Mail,
  links: LinkStore,
  remotes: Remotes,
  peer: Peer,
  envelope: MailEnvelope,
  {
    recipients,
    parent,
    hop,
    known,
  }: { recipients: Recipient[]; parent: MessageRow | null; hop: number; known: boolean },
): Promise<void> {
  const account = await remotes.account(envelope.from.account, peer.name)
  const session = await remotes.session(account, envelope.from.session)
  const root = parent ?? messageOf(mail, links, peer, 'thread', envelope.thread)
  const thread = root ? threadOf(root.json) : null
  const { subject, body, correlation, refs } = envelope
  const fragment = fragmentOf(account.name, session.name, thread, {
    subject,
    body,
    correlation,
    refs,
    hop,
    replyTo: parent ? messageId(parent.id, parent.random) : null,
    onBehalfOf: null,
    wakeSuppressed: known ? 'history' : quietFor(mail, peer, account.id, recipients, hop),
    recipients: null,
    attestedBy: peer.name,
  })
  const outcome = await mail.store.send({
    account,
    session,
    scope: 0,
    thread: root?.thread ?? 0,
    parent: parent?.id ?? null,
    hop,
    recipients,
    fragment,
    idempotency: { key: `${peer.added}:${envelope.id}`, hash: contentHash(envelope) },
    upsert: null,
    close: null,
  })
  if (outcome.conflict) return // the id was used before: what came first counts
  links.map(peer.name, 'message', envelope.id, outcome.id)
  if (envelope.thread.of === 'me')
    links.map(
      peer.name,
      'thread',
      envelope.thread.id,
      root?.thread ?? mail.store.message(outcome.id)?.thread ?? outcome.id,
    )
}

const contentHash = (envelope: MailEnvelope): string =>
  new Bun.CryptoHasher('sha256').update(JSON.stringify(envelope)).digest('hex')

/** @throws Refusal `too_large`, `malformed`, `hop_limit` */
function checkContent({ subject, body, correlation, refs }: MailEnvelope, hop: number): void {
  checkLine('subject', subject, LIMITS.subject)
  checkBody('body', body, LIMITS.body)
  if (correlation !== null) checkLine('correlation', correlation, LIMITS.correlation)
  for (const reference of refs) checkLine('refs', reference.locator, LIMITS.locator)
  if (hop > LIMITS.hopMax) throw new Refusal('hop_limit', `this would be hop ${hop}`, { hop, limit: LIMITS.hopMax })
}

/** Why it wakes and rings nobody, or null where it may. */
function quietFor(mail: Mail, peer: Peer, from: number, recipients: readonly Recipient[], hop: number) {
  if (!peer.wake) return 'peer' as const
  if (hop > LIMITS.hopQuiet) return 'hop' as const
  const now = mail.now()
  let quiet = false
  for (const to of recipients) quiet = mail.rates.wake(from, to.account, now) > 0 || quiet
  return quiet ? ('rate' as const) : null
}

/** The message that the peer means; null where we do not know it, or it only guessed. */
function messageOf(
  mail: Mail,
  links: LinkStore,
  peer: Peer,
  kind: 'message' | 'thread',
  { of, id }: Known,
): MessageRow | null {
  if (of === 'me') {
    const ours = links.ours(peer.name, kind, id)
    return ours === null ? null : mail.store.message(ours)
  }
  const message = mail.store.message(sequenceOf(id))
  return message && message.random === randomOf(id) ? message : null
}

/** @throws Refusal `peer_not_allowed`, `unknown_participant`, `unknown_room`, `unknown_session`, `malformed` */
function resolveFor(mail: Mail, peer: Peer, text: string, parent: MessageRow | null): Resolved {
  const { registry } = mail.store
  const address = parseAddress(text)
  if (address.machine !== undefined) throw malformed('to', 'mail is not passed on to other machines')
  if (address.kind === 'room') {
    const room = registry.room(address.room)
    if (!isAllowed(peer.rooms, address.room)) throw notAllowed(`#${address.room}`)
    if (!room) throw new Refusal('unknown_room', `no room ${address.room}`, { room: address.room })
    const members = registry.members(room.id).flatMap((id) => registry.accountById(id) ?? [])
    const local = members.filter(({ kind }) => kind !== 'remote') // what came from a machine goes to no other one
    return accepted(
      { kind: 'room', room: room.name },
      local.map((member) => ({
        text: `#${room.name}`,
        kind: KIND.room,
        box: member.box,
        account: member.id,
        room: room.id,
      })),
    )
  }
  if (!isAllowed(peer.accounts, address.participant)) throw notAllowed(address.participant)
  const account = registry.account(address.participant)
  if (!account) throw new Refusal('unknown_participant', `no account ${address.participant}`)
  const { name, id, box } = account
  if (address.kind === 'direct')
    return accepted({ kind: 'direct', participant: name }, [
      { text: name, kind: KIND.account, box, account: id, room: 0 },
    ])
  const named = sessionNamed(mail, account, address.session)
  if (!named)
    throw new Refusal('unknown_session', `${name} has no session ${address.session}`, { session: address.session })
  const session = named.successor === null ? named : (registry.sessionByBox(named.box) ?? named)
  // an answer to a session that has ended, and that no other one has taken over, goes to its account: nobody would read it
  if (parent?.account === id && parent.senderBox === session.box && !isLive(mail, session))
    return accepted({ kind: 'direct', participant: name }, [
      { text: name, kind: KIND.account, box, account: id, room: 0 },
    ])
  const to: Address = { kind: 'session', participant: name, session: session.name }
  return accepted(to, [{ text: formatAddress(to), kind: KIND.session, box: session.box, account: id, room: 0 }])
}

const accepted = (to: Address, deliveries: Recipient[]): Resolved => ({
  to,
  text: formatAddress(to),
  all: false,
  deliveries,
  refusal: null,
})

const isAllowed = (list: readonly string[], name: string): boolean =>
  list.some((one) => one === '*' || canonical(one) === canonical(name))

const notAllowed = (to: string): Refusal =>
  new Refusal('peer_not_allowed', `${to} takes no mail from this machine`, { to })
