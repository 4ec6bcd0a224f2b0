// Old mail lies twice, with its sender and with each recipient: put together to one letter with its copies, and into threads.
import type { ImportLetter } from '../../../wire/transfer.ts'
import type { Carried } from '../carry.ts'
import type { OldMail } from './mail.ts'

type Letter = { at: string; first: OldMail; copies: Map<string, OldMail>; inReplyTo: string | null; key: string }

export type Joined = {
  letters: Carried[]
  /** The same copy once more: in two places, or twice in one. */
  repeated: number
  /** Sent mail whose recipient still had it. */
  matched: number
  /** Sent mail that is nowhere else: closed long ago. */
  alone: number
}

/** Letters oldest first, each after the one that it answers. */
export function joinMail(mail: readonly OldMail[]): Joined {
  const letters = new Map<string, Letter>()
  const bySentId = new Map<string, Letter>()
  let repeated = 0
  for (const one of mail.filter(({ place }) => place !== 'sent')) {
    const key = keyOf('copy', one, one.sentId ?? one.id)
    const letter: Letter = letters.get(key) ?? { at: one.at, first: one, copies: new Map(), inReplyTo: null, key }
    const before = letter.copies.get(one.owner)
    if (before) repeated++
    if (!before || RANK[one.state] > RANK[before.state]) letter.copies.set(one.owner, one)
    letter.inReplyTo ??= one.inReplyTo
    letters.set(key, letter)
    for (const id of [one.sentId, one.id]) if (id !== null) bySentId.set(idKey(one.from, id), letter)
  }
  let matched = 0
  let alone = 0
  for (const one of mail.filter(({ place }) => place === 'sent')) {
    const found = one.id === null ? undefined : bySentId.get(idKey(one.from, one.id))
    if (found) {
      matched++
      found.inReplyTo ??= one.inReplyTo
      continue
    }
    const key = keyOf('sent', one, one.id)
    if (letters.has(key)) repeated++
    else {
      alone++
      const copies = new Map(one.refused ? [] : one.to.filter((to) => to !== 'all').map((to) => [to, one]))
      letters.set(key, { at: one.at, first: one, copies, inReplyTo: one.inReplyTo, key })
    }
  }
  return { letters: inOrder([...letters.values()]), repeated, matched, alone }
}

const RANK = { new: 0, opened: 1, closed: 2 }
const idKey = (from: string, id: string): string => `${from.toLowerCase()} ${id}`

/** What makes two messages the same: ids of eight digits were not looked at before they were given again. */
const keyOf = (kind: string, { from, subject, body, created }: OldMail, id: string | null): string =>
  new Bun.CryptoHasher('sha256')
    .update(JSON.stringify([kind, from.toLowerCase(), id, subject, body, created]))
    .digest('hex')

function inOrder(letters: Letter[]): Carried[] {
  letters.sort((a, b) => a.first.created - b.first.created || (a.key < b.key ? -1 : 1))
  const known = idsOf(letters)
  const parents = new Map<Letter, Letter>()
  for (const letter of letters) {
    const parent = letter.inReplyTo === null ? undefined : known.get(idKey(letter.first.from, letter.inReplyTo))
    if (parent && parent !== letter) parents.set(letter, parent)
  }
  const done = new Map<Letter, string>()
  const carried: Carried[] = []
  for (const letter of letters) {
    const chain = [letter]
    for (let up = parents.get(letter); up && !done.has(up) && !chain.includes(up); up = parents.get(up)) chain.push(up)
    for (const one of chain.reverse()) {
      if (done.has(one)) continue
      const parent = parents.get(one)
      const thread = parent ? done.get(parent) : undefined
      done.set(one, thread ?? one.key)
      carried.push({
        at: one.at,
        letter: importOf(one, thread === undefined ? null : (parent?.key ?? null), thread ?? one.key),
      })
    }
  }
  return carried
}

/** What a branch can answer, by the ids that it knows: those of its own mailbox before those that senders gave. */
function idsOf(letters: readonly Letter[]): Map<string, Letter> {
  const known = new Map<string, Letter>()
  for (const pick of ['sentId', 'id'] as const)
    for (const letter of letters)
      for (const [owner, { [pick]: id }] of letter.copies) if (id !== null) known.set(idKey(owner, id), letter)
  return known
}

function importOf({ first, copies, key }: Letter, replyTo: string | null, thread: string): ImportLetter {
  const id = first.sentId ?? first.id
  return {
    key,
    from: first.from,
    subject: first.subject,
    body: first.body,
    created_at_unix_ms: first.created,
    thread,
    reply_to: replyTo,
    refs: [
      ...(id === null ? [] : [{ kind: 'aipass-id', locator: id.slice(0, 512) }]),
      ...(first.answers === null ? [] : [{ kind: 'aipass-reply-to', locator: first.answers.slice(0, 512) }]),
    ],
    deliveries: [...copies].map(([to, copy]) => ({
      to,
      state: copy.state,
      closed_at_unix_ms: copy.state === 'closed' ? (copy.closed ?? copy.created) : null,
      close_reason: copy.state === 'closed' && copy.place !== 'sent' ? 'acknowledged' : null,
      updates: copy.updates,
    })),
  }
}
