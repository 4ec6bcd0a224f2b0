// The law book: who may read a letter, and which copy of it is whose.
import { type Copy, copyIn, isMember, type Letter, letterOf, Refused, type Session, type State } from './state.ts'

/**
 * "One function decides what a caller may read: its own deliveries and what its account sent; a sibling's session mail and its
 * thread are not among it." "Membership is checked at each read: who leaves a room loses its mail."
 */
export function mayRead(state: State, reader: Session, letter: Letter): boolean {
  if (letter.account === reader.account && (letter.scope === null || letter.scope === reader.box)) return true
  return letter.to.some((to) => {
    if (to.account !== reader.account) return false
    if (to.kind === 'room') return isMember(state, to.room, reader.account)
    if (to.box === reader.account || to.box === reader.box) return true
    // "an operator may release them to the account"
    return copyIn(state, reader.account, letter.name) !== null
  })
}

/** "An unreadable id answers as an unknown one." */
export function readable(state: State, reader: Session, name: string): Letter {
  const letter = letterOf(state, name)
  if (!letter || !mayRead(state, reader, letter)) throw new Refused('unknown_message')
  return letter
}

/** The reader's own copy: in its own box before that of its account. "A sender never gets its own room post as unread." */
export function copyFor(state: State, reader: Session, letter: Letter): Copy | null {
  const copy = copyIn(state, reader.box, letter.name) ?? copyIn(state, reader.account, letter.name)
  if (copy?.kind !== 'room') return copy
  if (letter.box === reader.box) return null
  return isMember(state, copy.room, reader.account) ? copy : null
}

/** A reader's copy, for what can only be done to a copy. */
export function ownCopy(state: State, reader: Session, name: string): { letter: Letter; copy: Copy; box: string } {
  const letter = readable(state, reader, name)
  const copy = copyFor(state, reader, letter)
  if (!copy) throw new Refused('unknown_message')
  return { letter, copy, box: copyIn(state, reader.box, name) === copy ? reader.box : reader.account }
}

/** To whom a reader is shown that it was written. */
export function addressee(reader: Session, letter: Letter, copy: Copy | null): string {
  if (copy === null) return letter.to[0]?.text ?? reader.account
  if (copy.kind === 'account') return reader.account
  if (copy.kind === 'room') return `#${copy.room}`
  return letter.to.find((to) => to.kind === 'session' && to.box === reader.box)?.text ?? reader.address
}

/** "`new → opened → closed`", and who did it. */
export function stateOf(state: State, copy: Copy, box: string, name: string) {
  const claim = copy.kind === 'account' && copy.place === 'open' ? claimOn(state, box, name) : null
  return {
    state: copy.place === 'closed' ? 'closed' : copy.opened ? 'opened' : 'new',
    opened_by: copy.openedBy,
    closed_by: copy.closedBy,
    close_reason: copy.reason,
    claimed_by: claim?.session ?? null,
  }
}

/** "A claim (≤ 3,600 s, renewable, released when its session ends)." */
export function claimOn(state: State, box: string, name: string): { session: string; until: number } | null {
  const claim = state.claims[`${box} ${name}`]
  return claim && claim.until > state.clock ? claim : null
}
