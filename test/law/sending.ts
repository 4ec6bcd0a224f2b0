// The law book: who gets a letter, what a reply is, what a key promises, and what a signal replaces.
import { claimOn, copyFor, readable } from './reading.ts'
import { boxOf, close, open, settle } from './settling.ts'
import {
  type Copy,
  copyIn,
  type Entry,
  holderOf,
  isMember,
  type Letter,
  letterOf,
  Refused,
  type Session,
  type State,
  sessionsOf,
} from './state.ts'

export type Sending = {
  /** What the letter is called in the history; with a key, the key's name. */
  name: string
  /** Compact addresses; null for a reply to whom it answers. */
  to: string[] | null
  body: string
  reply_to: string | null
  close: boolean
  key: string | null
  upsert: string | null
}

type Result = { to: string; state: string | null; kind: string | null }
export type Sent = {
  letter: string
  thread: string
  from: string
  hop: number
  duplicate: boolean
  closed: boolean
  superseded: number
  results: Result[]
}

/** "An answer to a send means that the message is on the disk": what follows is one step, all of it or nothing. */
export function send(state: State, sender: Session, asked: Sending): Sent {
  const before = repeated(state, sender, asked)
  if (before) return before
  const parent = asked.reply_to === null ? null : readable(state, sender, asked.reply_to)
  const copy = parent && copyFor(state, sender, parent)
  if (parent && asked.close) checkClosable(state, sender, parent, copy)
  const resolved = resolve(state, sender, asked.to ?? recipientsOf(state, sender, parent, copy))
  const to = deliveriesOf(resolved)
  if (to.length === 0) throw new Refused(resolved.length === 1 ? (resolved[0]?.kind ?? '') : 'no_recipient')
  const letter: Letter = {
    name: asked.name,
    from: sender.address,
    account: sender.account,
    box: sender.box,
    scope: scopeOf(sender, to, parent, copy),
    thread: parent?.thread ?? asked.name,
    parent: parent?.name ?? null,
    hop: hopOf(state, sender, parent),
    to,
  }
  state.letters.push(letter)
  if (asked.key !== null)
    state.keys[`${sender.account} ${asked.key}`] = { letter: letter.name, content: content(asked) }
  const superseded = to.filter((entry) => deliver(state, letter, entry, asked.upsert)).length
  // "`close: true` settles the original in the same transaction"
  if (parent && asked.close) settle(state, sender, parent.name, 'replied')
  else if (parent && copy) open(state, sender, parent.name)
  return {
    ...answerOf(letter),
    duplicate: false,
    closed: asked.close,
    superseded,
    results: resolved.map(({ text, kind }) => ({ to: text, state: kind === null ? 'new' : null, kind })),
  }
}

const answerOf = ({ name, thread, from, hop }: Letter) => ({ letter: name, thread, from, hop })

/**
 * "Same key, same content → the original, created once, scoped to the account; the answer carries the original's `from` and
 * `duplicate: true`; other content (to, subject, body, reply_to, correlation, refs, close, dispatch, upsert_key) →
 * `idempotency_conflict`."
 */
function repeated(state: State, sender: Session, asked: Sending): Sent | null {
  const known = asked.key === null ? undefined : state.keys[`${sender.account} ${asked.key}`]
  if (!known) return null
  if (known.content !== content(asked)) throw new Refused('idempotency_conflict')
  const letter = letterOf(state, known.letter)
  if (!letter) throw new Error(`no letter ${known.letter}`)
  const texts = [...new Set(letter.to.map(({ text }) => text))]
  const results = texts.map((to) => ({ to, state: fate(state, letter, to), kind: null }))
  return { ...answerOf(letter), duplicate: true, closed: false, superseded: 0, results }
}

const content = ({ to, body, reply_to, close, upsert }: Sending): string =>
  JSON.stringify([to && [...new Set(to.map((one) => one.toLowerCase()))].sort(), body, reply_to, close, upsert])

/** Of a room: closed once all closed it, opened once anybody opened it. */
function fate(state: State, letter: Letter, text: string): string {
  const copies = letter.to
    .filter((to) => to.text === text && (to.kind !== 'room' || to.account !== letter.account))
    .map((to) => receivedCopy(state, letter, to)?.copy)
    .filter((copy) => copy !== undefined)
  if (copies.length > 0 && copies.every(({ place }) => place === 'closed')) return 'closed'
  return copies.some(({ place, opened }) => place === 'closed' || opened) ? 'opened' : 'new'
}

/** The copy that an entry led to, also where it was released to the account since. */
export function receivedCopy(state: State, letter: Letter, to: Entry): { copy: Copy; box: string } | null {
  for (const box of to.kind === 'session' ? [to.box, to.account] : [to.box]) {
    const copy = copyIn(state, box, letter.name)
    if (copy) return { copy, box }
  }
  return null
}

function checkClosable(state: State, sender: Session, parent: Letter, copy: Copy | null): void {
  if (!copy) throw new Refused('malformed')
  const claim = copy.place === 'open' && copy.kind === 'account' ? claimOn(state, sender.account, parent.name) : null
  if (claim && claim.session !== sender.address) throw new Refused('claimed')
}

/** "`send` with `reply_to` and no `to` = reply to its sender or room." Who answers its own letter goes on talking to the same. */
function recipientsOf(state: State, sender: Session, parent: Letter | null, copy: Copy | null): string[] {
  if (!parent) throw new Refused('no_recipient')
  if (copy?.kind === 'room') return [`#${copy.room}`]
  if (parent.account === sender.account && (parent.box === sender.box || copy === null))
    return [...new Set(parent.to.map(({ text }) => text))]
  // in the mailbox of a session that has ended nobody would read the answer
  return [holderOf(state, parent.box)?.live ? parent.from : parent.account]
}

/** "Above 256 it is refused"; no history is as long. "`hop` = parent's + 1; a person's message starts at 0." */
const hopOf = (state: State, sender: Session, parent: Letter | null): number =>
  state.accounts[sender.account]?.kind === 'person' || !parent ? 0 : parent.hop + 1

/** "A sibling's session mail and its thread are not among" what a session may read: neither as mail that its account sent. */
function scopeOf(sender: Session, to: readonly Entry[], parent: Letter | null, copy: Copy | null): string | null {
  if (parent?.scope === sender.box) return sender.box
  if (copy?.kind === 'session') return sender.box
  return to.some((entry) => entry.kind === 'session' && entry.account === sender.account) ? sender.box : null
}

type Resolved = { text: string; kind: string | null; entries: Entry[] }

/** "`to` takes 1 to 100 addresses: one message, one delivery per account, one result each", each address once. */
function resolve(state: State, sender: Session, to: readonly string[]): Resolved[] {
  const found = new Map<string, Resolved>()
  for (const address of to) {
    const one = resolveOne(state, sender, address)
    if (!found.has(one.text)) found.set(one.text, one)
  }
  return [...found.values()]
}

function resolveOne(state: State, sender: Session, text: string): Resolved {
  const refused = (kind: string): Resolved => ({ text, kind, entries: [] })
  if (text.startsWith('#')) {
    const room = text.slice(1)
    const members = state.rooms[room]
    if (!members) return refused('unknown_room')
    // "posting needs membership"
    if (!isMember(state, room, sender.account)) return refused('not_a_member')
    const entries = members.map((account) => ({ kind: 'room' as const, text, account, box: account, room }))
    return { text, kind: null, entries }
  }
  const account = text.split('/')[0] ?? ''
  if (!state.accounts[account]) return refused('unknown_participant')
  if (!text.includes('/'))
    return { text, kind: null, entries: [{ kind: 'account', text, account, box: account, room: '' }] }
  const session = sessionsOf(state, account).find(({ address }) => address === text)
  if (!session) return refused('unknown_session')
  // "that session, then its successor"
  const holder = holderOf(state, session.box) ?? session
  const address = holder.address
  return {
    text: address,
    kind: null,
    entries: [{ kind: 'session', text: address, account, box: session.box, room: '' }],
  }
}

/** One delivery for a mailbox: what an account gets anyway no session of it gets again, and its own mail is not a room's. */
function deliveriesOf(resolved: readonly Resolved[]): Entry[] {
  const boxes = new Map<string, Entry>()
  for (const entry of resolved.flatMap(({ entries }) => entries))
    if (!boxes.has(entry.box) || entry.kind === 'account') boxes.set(entry.box, entry)
  const all = [...boxes.values()]
  const accounts = new Set(all.filter(({ kind }) => kind !== 'session').map(({ account }) => account))
  return all.filter(({ kind, account }) => kind !== 'session' || !accounts.has(account))
}

/**
 * "Upsert key (sender account, recipient, key): a repeated signal is a new message that closes the earlier as `superseded`, counts
 * `updates`." True where it closed one.
 */
function deliver(state: State, letter: Letter, to: Entry, key: string | null): boolean {
  const signal = `${letter.account} ${to.box} ${key}`
  const last = key === null ? undefined : state.signals[signal]
  const earlier = last ? copyIn(state, to.box, last.letter) : null
  const updates = last && earlier ? last.updates + 1 : 0
  const closes = earlier?.place === 'open'
  if (last && earlier && closes) close(state, earlier, to.box, last.letter, null, 'superseded')
  if (last && earlier?.kind === 'room')
    for (const { box } of sessionsOf(state, to.account)) {
      const copy = state.boxes[box]?.[last.letter]
      if (copy?.place === 'open') close(state, copy, box, last.letter, null, 'superseded')
    }
  if (key !== null) state.signals[signal] = { letter: letter.name, updates }
  boxOf(state, to.box)[letter.name] = {
    kind: to.kind,
    room: to.room,
    place: 'open',
    opened: false,
    openedBy: null,
    closedBy: null,
    reason: null,
    updates,
  }
  return closes
}
