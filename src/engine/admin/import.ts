// Letters carried in from elsewhere, by an operator: each once, with its states and times, marked as what nobody proved here.

import type { ImportedCopy, ImportedLetter } from '../../store/keeping/keeping.ts'
import { SYSTEM } from '../../store/people/people.ts'
import { KIND, type Kind } from '../../store/rows.ts'
import type { AdminAnswer, AdminRequest } from '../../wire/admin.ts'
import type { Imported } from '../../wire/letter.ts'
import { LIMITS } from '../../wire/limits.ts'
import { canonical, isRemoteName, type MessageId, messageId, randomOf, sequenceOf } from '../../wire/names.ts'
import { Refusal } from '../../wire/refusal.ts'
import { checkBody, checkLine } from '../../wire/text.ts'
import { rfc3339 } from '../../wire/time.ts'
import type { ImportCopy, ImportLetter, ImportResult } from '../../wire/transfer.ts'
import { fragmentOf } from '../fragment.ts'
import { addRemote } from '../link.ts'
import type { Mail } from '../mail.ts'
import { knownAccount, knownRoom } from './known.ts'

type Source = Imported['source']
/** A letter that is in the store, or will be with this batch; `text` once its id is known. */
type Place = { id: number; thread: number; text: () => MessageId }
type Accepted = { letter: ImportLetter; account: number; sender: string; copies: ImportedCopy[]; result: ImportResult }

/**
 * Stores what can be stored, in one transaction; a letter that cannot be is refused by itself. It rings and wakes nobody. What
 * was imported before, or was sent here, is known and stays as it is.
 */
export async function importLetters(mail: Mail, request: AdminRequest<'import'>): Promise<AdminAnswer<'import'>> {
  const { source, letters } = request
  const now = mail.now()
  const accepted: Accepted[] = []
  const seen = new Set<string>()
  const itself = await selfOf(mail, request)
  if (!request.dry_run) for (const name of remoteNames(mail, letters)) await addRemote(mail.store, name)
  const results = letters.map((letter): ImportResult => {
    const place = placeOf(mail, source, letter.key)
    if (place) return { key: letter.key, outcome: 'known', message_id: place.text() }
    if (seen.has(letter.key)) return { key: letter.key, outcome: 'known' }
    try {
      const result: ImportResult = { key: letter.key, outcome: 'added' }
      accepted.push({ letter, result, ...checked(mail, letter, itself) })
      seen.add(letter.key)
      return result
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return { key: letter.key, outcome: 'refused', refusal: error.toJSON() }
    }
  })
  if (!request.dry_run && accepted.length > 0) await store(mail, source, accepted, now)
  return { results, now: rfc3339(now) }
}

/** The row id of the mailbox itself where it, or the one that the letters come from, wrote some of them; else 0. */
async function selfOf(mail: Mail, { letters, dry_run }: AdminRequest<'import'>): Promise<number> {
  if (dry_run || !letters.some(({ from }) => canonical(from) === SYSTEM)) return 0
  return (await mail.store.people.system()).account.id
}

/** Accounts of other machines that letters name and that are not known here yet: they are made with the letters. */
function remoteNames(mail: Mail, letters: readonly ImportLetter[]): string[] {
  const named = letters.flatMap(({ from, deliveries }) => [from, ...deliveries.map(({ to }) => to)])
  const wanted = new Map(named.filter(isRemoteName).map((name) => [canonical(name), name]))
  return [...wanted.values()].filter((name) => mail.store.registry.account(name) === undefined)
}

/** @throws Refusal `unknown_participant`; not for one of another machine, which a dry run does not make */
function accountOf(mail: Mail, name: string): { id: number; name: string; box: number } {
  const known = mail.store.registry.account(name)
  return known ?? (isRemoteName(name) ? { id: 0, name, box: 0 } : knownAccount(mail, name))
}

async function store(mail: Mail, source: Source, accepted: readonly Accepted[], now: number): Promise<void> {
  const { keeping } = mail.store
  const first = keeping.reserve(accepted.length)
  const batch = new Map<string, Place>()
  const find = (key: string | null | undefined) => (key == null ? null : (batch.get(key) ?? placeOf(mail, source, key)))
  const rows = accepted.map(({ letter, account, sender, copies, result }, at): ImportedLetter => {
    const parent = find(letter.reply_to)
    const begun = parent ? null : letter.thread === letter.key ? null : find(letter.thread)
    const orphan = parent || begun ? null : lostThread(mail, source, letter.thread ?? letter.key)
    const thread = parent?.thread ?? begun?.thread ?? orphan
    const id = first + at
    let own: MessageId | undefined
    const place: Place = { id, thread: thread ?? id, text: () => own ?? '' }
    batch.set(letter.key, place)
    const root = thread === null ? null : (rootOf(batch, thread) ?? storedText(mail, thread))
    return {
      key: `${source}:${letter.key}`,
      account,
      created: letter.created_at_unix_ms,
      hop: letter.hop ?? 0,
      copies,
      thread,
      threadKey:
        thread === null && letter.thread != null && letter.thread !== letter.key ? `${source}:${letter.thread}` : null,
      parent: parent?.id ?? thread,
      fragment(number, random, created) {
        own = messageId(number, random)
        result.message_id = own
        const content = contentOf(letter, source, parent?.text() ?? null, copies, now)
        return fragmentOf(sender, null, root?.() ?? null, content)(number, random, created)
      },
    }
  })
  await keeping.add(first, rows, now)
}

/** Fragments of one batch are made in its order, so that an earlier letter has its id by then. */
function rootOf(batch: ReadonlyMap<string, Place>, thread: number): (() => MessageId) | null {
  for (const place of batch.values()) if (place.id === thread) return place.text
  return null
}

function storedText(mail: Mail, id: number): () => MessageId {
  const message = mail.store.message(id)
  return () => (message ? messageId(message.id, message.random) : '')
}

/** The letter that is known by that key. */
function placeOf(mail: Mail, source: Source, key: string): Place | null {
  const id = mail.store.keeping.imported(`${source}:${key}`) ?? sentHere(mail, source, key)
  const message = id === null ? null : mail.store.message(id)
  return message && { id: message.id, thread: message.thread, text: () => messageId(message.id, message.random) }
}

/** An export may come back to the mailbox that it was made of. */
function sentHere(mail: Mail, source: Source, key: string): number | null {
  if (source !== 'mail4agent' || !/^m4a_[0-9a-f]{24}$/.test(key)) return null
  return mail.store.message(sequenceOf(key))?.random === randomOf(key) ? sequenceOf(key) : null
}

/** A thread of which a later letter came first. It may have been removed since. */
function lostThread(mail: Mail, source: Source, key: string): number | null {
  const id = mail.store.keeping.importedThread(`${source}:${key}`)
  return id !== null && mail.store.message(id) ? id : null
}

/** @throws Refusal `malformed`, `too_large`, `unknown_participant`, `unknown_room` */
function checked(mail: Mail, letter: ImportLetter, itself: number): Omit<Accepted, 'letter' | 'result'> {
  checkLine('subject', letter.subject, LIMITS.subject)
  checkBody('body', letter.body, LIMITS.body)
  if (letter.correlation != null) checkLine('correlation', letter.correlation, LIMITS.correlation)
  if (letter.on_behalf_of != null) checkLine('on_behalf_of', letter.on_behalf_of, LIMITS.label)
  for (const { locator } of letter.refs ?? []) checkLine('refs', locator, LIMITS.locator)
  const { id, name } = canonical(letter.from) === SYSTEM ? { id: itself, name: SYSTEM } : accountOf(mail, letter.from)
  const copies = new Map<number, ImportedCopy>()
  for (const one of letter.deliveries) {
    const copy = copyOf(mail, letter, one)
    // of its own room post the sender needs no copy: which of its sessions wrote it is not known here
    if (copy.kind === KIND.room && copy.account === id) continue
    const other = copies.get(copy.box)
    if (!other || copy.closed === 0) copies.set(copy.box, copy)
  }
  return { account: id, sender: name, copies: [...copies.values()] }
}

/** Letters to sessions of another mailbox are letters to their account here. */
function copyOf(mail: Mail, letter: ImportLetter, copy: ImportCopy): ImportedCopy {
  const account = accountOf(mail, copy.to)
  const room = copy.room == null ? null : knownRoom(mail, copy.room)
  const kind: Kind = room ? KIND.room : KIND.account
  const isClosed = copy.state === 'closed'
  // as for a member that left: it is there again when the account joins
  const isHidden = room !== null && !mail.store.registry.isMember(room.id, account.id)
  const closedAt = isClosed ? (copy.closed_at_unix_ms ?? letter.created_at_unix_ms) : null
  const opened = copy.opened_at_unix_ms ?? (copy.state === 'new' ? null : (closedAt ?? letter.created_at_unix_ms))
  return {
    text: room ? `#${room.name}` : account.name,
    kind,
    box: account.box,
    account: account.id,
    room: room?.id ?? 0,
    closed: isClosed ? 1 : isHidden ? 2 : 0,
    notified: copy.notified_at_unix_ms ?? opened,
    opened: copy.state === 'new' ? null : opened,
    closedAt,
    reason: isClosed ? (copy.close_reason ?? null) : null,
    updates: copy.updates ?? 0,
  }
}

function contentOf(
  letter: ImportLetter,
  source: Source,
  replyTo: MessageId | null,
  copies: readonly ImportedCopy[],
  now: number,
): Parameters<typeof fragmentOf>[3] {
  const texts = [...new Set(copies.map(({ text }) => text))]
  return {
    subject: letter.subject,
    body: letter.body,
    replyTo,
    correlation: letter.correlation ?? null,
    refs: letter.refs ?? [],
    hop: letter.hop ?? 0,
    onBehalfOf: letter.on_behalf_of ?? null,
    wakeSuppressed: null,
    recipients: texts.length > 1 ? texts : null,
    imported: { source, id: letter.key, at: rfc3339(now) },
  }
}
