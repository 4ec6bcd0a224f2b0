// The law book: what opens a letter, what closes it and for whom, what puts it back, and who works on it.
import { claimOn, ownCopy } from './reading.ts'
import { type Copy, copyIn, Refused, type Session, type State, sessionsOf } from './state.ts'

/** "`opened` is set by `get`/`view` (not with `peek`), a reply, or that session's next inbox call whose cursor passes the message." */
export function open(state: State, reader: Session, name: string): void {
  for (const box of [reader.box, reader.account]) {
    const copy = state.boxes[box]?.[name]
    if (copy?.place !== 'open' || copy.opened) continue
    copy.opened = true
    copy.openedBy = reader.address
  }
}

/**
 * "An ack settles it for": of an account's letter "the account (first ack wins)"; of a session's "that session"; of a room's "the
 * acking session". May be repeated; the first time counts. True for the first time.
 */
export function settle(state: State, reader: Session, name: string, reason: string): boolean {
  const { letter, copy, box } = ownCopy(state, reader, name)
  if (copy.place === 'closed') return false
  const claim = copy.kind === 'account' ? claimOn(state, box, name) : null
  // "refuses their ack with `claimed`"
  if (claim && claim.session !== reader.address) throw new Refused('claimed')
  close(state, copy, box, name, reader.address, reason)
  // "seen by every session of the account except the sender; a session that registers later too, until some session of the account
  // has closed it": those of that time keep a copy of their own
  if (copy.kind === 'room' && box === reader.account)
    for (const sibling of sessionsOf(state, reader.account))
      if (sibling.live && sibling.box !== reader.box && sibling.box !== letter.box)
        boxOf(state, sibling.box)[name] ??= { ...copy, ...OPEN, opened: false, openedBy: null, updates: 0 }
  return true
}

const OPEN = { place: 'open', closedBy: null, reason: null } as const

export const boxOf = (state: State, box: string): Record<string, Copy> => {
  state.boxes[box] ??= {}
  return state.boxes[box]
}

/** What is closed is nobody's work any more. Who closes a letter has opened it; a later signal opens nothing. */
export function close(state: State, copy: Copy, box: string, name: string, by: string | null, reason: string): void {
  if (by !== null && !copy.opened) Object.assign(copy, { opened: true, openedBy: by })
  Object.assign(copy, { place: 'closed', closedBy: by, reason })
  delete state.claims[`${box} ${name}`]
}

/** Puts a closed letter back: of a room for this session alone, since others have closed theirs for themselves. */
export function reopen(state: State, reader: Session, name: string): void {
  const { copy, box } = ownCopy(state, reader, name)
  if (copy.place !== 'closed') throw new Refused('not_closed')
  if (copy.kind === 'room' && box === reader.account) boxOf(state, reader.box)[name] = { ...copy, ...OPEN, updates: 0 }
  else Object.assign(copy, OPEN)
}

/** "A claim keeps account mail from siblings' default inbox." 0 seconds give it back. */
export function claim(state: State, reader: Session, name: string, seconds: number): void {
  ownCopy(state, reader, name)
  const copy = copyIn(state, reader.account, name) ?? copyIn(state, reader.box, name)
  if (copy?.kind !== 'account' || copy.place !== 'open') throw new Refused('not_claimable')
  const held = claimOn(state, reader.account, name)
  if (held && held.session !== reader.address) throw new Refused('claimed')
  if (seconds === 0) delete state.claims[`${reader.account} ${name}`]
  else state.claims[`${reader.account} ${name}`] = { session: reader.address, until: state.clock + seconds * 1_000 }
}

/** Of several each has its own result; where all are refused the first refusal is the answer. */
export function each(state: State, reader: Session, names: readonly string[], act: (name: string) => void) {
  const results = [...new Set(names)].map((letter) => {
    try {
      act(letter)
      return { letter, ok: true, kind: null }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return { letter, ok: false, kind: error.kind }
    }
  })
  const [first] = results
  if (first && !results.some((one) => one.ok)) throw new Refused(first.kind ?? '')
  return { results, unread: unread(state, reader) }
}

/** "`unread` = not closed": in the reader's own box and its account's, each letter once. */
export function unread(state: State, reader: Session): number {
  return openLetters(state, reader).length
}

/** Names of what is not closed for that reader, in order. */
export function openLetters(state: State, reader: Session): string[] {
  return state.letters
    .filter((letter) => [reader.box, reader.account].some((box) => isOpenMail(state, reader, box, letter)))
    .map(({ name }) => name)
}

export function isOpenMail(state: State, reader: Session, box: string, letter: { name: string; box: string }): boolean {
  const copy = state.boxes[box]?.[letter.name]
  return copy?.place === 'open' && !(copy.kind === 'room' && letter.box === reader.box)
}
