// The law book: what an inbox shows, what a cursor and a wait mean; threads, sent mail, receipts, orphans.
import { addressee, claimOn, copyFor, mayRead, readable, stateOf } from './reading.ts'
import { receivedCopy } from './sending.ts'
import { open, unread } from './settling.ts'
import {
  type Copy,
  copyIn,
  holderOf,
  isMember,
  type Letter,
  placeOf,
  type Session,
  type State,
  sessionsOf,
} from './state.ts'

export type Listing = {
  state: 'open' | 'new' | 'opened' | 'closed' | 'all'
  limit: number
  /** "Exclusive `cursor`": the letter behind which the list begins. */
  cursor: string | null
  brief: boolean
  wait: boolean
}

type Row = { letter: Letter; copy: Copy; box: string; at: number }

/** A letter of a mailbox as its reader sees it. */
const shown = (state: State, reader: Session, { letter, copy, box }: Row) => ({
  letter: letter.name,
  from: letter.from,
  to: addressee(reader, letter, copy),
  updates: copy.updates,
  ...stateOf(state, copy, box, letter.name),
})

/** "`inbox` without `state` shows what is not closed", "oldest first", "`has_more`". "Reading never consumes." */
export function inbox(state: State, reader: Session, asked: Listing) {
  const plain = asked.state === 'open'
  // "a wait ends for a delivery past `cursor`, without one for a delivery that this session was not yet given"
  const given = plain ? reader.given : Math.max(reader.given, reader.filtered[asked.state] ?? 0)
  const after = asked.cursor !== null ? placeOf(state, asked.cursor) : asked.wait ? given : 0
  const orphaned = plain && asked.cursor === null ? orphans(state, reader) : 0
  if (asked.cursor !== null && !asked.brief) openPassed(state, reader, after)

  const rows: Row[] = []
  let more = false
  for (const row of mailbox(state, reader, asked.state, after)) {
    if (isKeptBack(state, reader, row, asked.state)) {
      reader.withheld = [...reader.withheld, row.letter.name]
      continue
    }
    more = rows.length === asked.limit
    if (more) break
    rows.push(row)
  }

  const end = rows.at(-1)
  const names = rows.map(({ letter }) => letter.name)
  // nobody has read what a list of headings shows
  reader.withheld = asked.brief
    ? [...reader.withheld, ...names]
    : reader.withheld.filter((name) => !names.includes(name))
  if (end && !plain) reader.filtered[asked.state] = Math.max(reader.filtered[asked.state] ?? 0, end.at)
  if (end && plain && after <= reader.given) reader.given = Math.max(reader.given, end.at)
  return {
    letters: rows.map((row) => shown(state, reader, row)),
    unread: unread(state, reader),
    orphaned,
    has_more: more,
    cursor: end?.letter.name ?? asked.cursor,
  }
}

/** "A claim keeps account mail from siblings' default inbox." */
function isKeptBack(state: State, reader: Session, { letter, copy, box }: Row, which: string): boolean {
  if (which !== 'open' || copy.kind !== 'account') return false
  const claim = claimOn(state, box, letter.name)
  return claim !== null && claim.session !== reader.address
}

/** Its own box and its account's, by the order of the store; a letter that lies in both is shown once, open before closed. */
function* mailbox(state: State, reader: Session, which: Listing['state'], after: number): IterableIterator<Row> {
  for (const [index, letter] of state.letters.entries()) {
    if (index + 1 <= after) continue
    const row = { open: rowIn(state, reader, letter, 'open'), closed: rowIn(state, reader, letter, 'closed') }
    const found = which === 'closed' ? row.closed : which === 'all' ? (row.open ?? row.closed) : row.open
    if (!found) continue
    if ((which === 'new' || which === 'opened') && found.copy.opened !== (which === 'opened')) continue
    yield { ...found, letter, at: index + 1 }
  }
}

function rowIn(state: State, reader: Session, letter: Letter, place: Copy['place']) {
  const own = copyIn(state, reader.box, letter.name)
  const all = copyIn(state, reader.account, letter.name)
  // the account's record of a room letter that this session keeps a copy of is not a second letter
  const found = [
    { copy: own, box: reader.box },
    { copy: place === 'closed' && own ? null : all, box: reader.account },
  ].find(({ copy }) => copy?.place === place)
  if (!found?.copy) return null
  const { copy, box } = found
  if (copy.kind === 'room' && (letter.box === reader.box || !isMember(state, copy.room, reader.account))) return null
  return { copy, box }
}

/** "That session's next inbox call whose cursor passes the message" opens what that session was given, whole. */
function openPassed(state: State, reader: Session, cursor: number): void {
  const upTo = Math.min(cursor, reader.given)
  if (upTo <= reader.opened) return
  for (const letter of state.letters.slice(reader.opened, upTo))
    if (!reader.withheld.includes(letter.name))
      for (const box of [reader.box, reader.account]) openIn(state, reader, box, letter)
  reader.opened = upTo
  reader.withheld = reader.withheld.filter((name) => placeOf(state, name) > upTo)
}

function openIn(state: State, reader: Session, box: string, letter: Letter): void {
  const copy = state.boxes[box]?.[letter.name]
  if (copy?.place !== 'open' || copy.opened || (copy.kind === 'room' && letter.box === reader.box)) return
  Object.assign(copy, { opened: true, openedBy: reader.address })
}

/** "Once it has ended without" a successor "the account sees that N letters are orphaned". */
export function orphans(state: State, reader: Session): number {
  return sessionsOf(state, reader.account)
    .filter((session) => !session.live && !session.succeeded)
    .reduce((sum, { box }) => sum + sessionMail(state, box).length, 0)
}

export const sessionMail = (state: State, box: string): string[] =>
  state.letters
    .map(({ name }) => name)
    .filter((name) => state.boxes[box]?.[name]?.kind === 'session' && state.boxes[box][name].place === 'open')

/** "Closed mail stays readable by id, thread and search." */
export function get(state: State, reader: Session, name: string, peek: boolean) {
  const letter = readable(state, reader, name)
  const copy = copyFor(state, reader, letter)
  if (copy && !peek) open(state, reader, name)
  return seen(state, reader, letter)
}

/** A letter for whoever may read it, with the state of its copy where it has one. */
function seen(state: State, reader: Session, letter: Letter) {
  const copy = copyFor(state, reader, letter)
  const box = copy !== null && copyIn(state, reader.box, letter.name) === copy ? reader.box : reader.account
  return {
    letter: letter.name,
    from: letter.from,
    thread: letter.thread,
    reply_to: letter.parent,
    hop: letter.hop,
    to: addressee(reader, letter, copy),
    ...(copy ? stateOf(state, copy, box, letter.name) : NONE),
  }
}
const NONE = { state: null, opened_by: null, closed_by: null, close_reason: null, claimed_by: null }

export const thread = (state: State, reader: Session, name: string) => {
  const root = readable(state, reader, name).thread
  return {
    letters: state.letters
      .filter((letter) => letter.thread === root && mayRead(state, reader, letter))
      .map((letter) => seen(state, reader, letter)),
  }
}

/** What the account sent, newest first, "with what became of it". */
export const sent = (state: State, reader: Session) => ({
  letters: state.letters
    .filter(({ account, scope }) => account === reader.account && (scope === null || scope === reader.box))
    .map((letter) => ({ letter: letter.name, deliveries: fates(state, reader, letter) }))
    .reverse(),
})

export const receipts = (state: State, reader: Session, name: string) => {
  const letter = readable(state, reader, name)
  return { letter: name, deliveries: fates(state, reader, letter) }
}

/** "The sender can ask." Another reader learns of its own account's copy alone. */
function fates(state: State, reader: Session, letter: Letter) {
  const all = letter.account === reader.account
  return letter.to.flatMap((to) => {
    if (!all && to.box !== reader.account && to.box !== reader.box) return []
    const found = receivedCopy(state, letter, to)
    if (!found) return []
    const { copy, box } = found
    const isOpen = copy.place === 'open'
    // the copy of a room post in the sender's own account counts once a sibling has done something with it
    if (to.kind === 'room' && to.account === letter.account && isOpen && !copy.opened) return []
    return [
      {
        to: to.text,
        participant: to.kind === 'room' ? to.account : null,
        ...stateOf(state, copy, box, letter.name),
        // "the sender's receipt says `session_ended`"
        session_ended: isOpen && to.kind === 'session' && !holderOf(state, to.box)?.live,
      },
    ]
  })
}
