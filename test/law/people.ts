// The law book: accounts, rooms and their members, sessions that begin, end and go on as another, mail that is given back.
import { sessionMail } from './listing.ts'
import { boxOf } from './settling.ts'
import { type Account, copyIn, Refused, type State, sessionsOf } from './state.ts'

export const account = (state: State, made: Account): void => {
  state.accounts[made.name] = made
}

/** "What an account may do." */
export const allow = (state: State, name: string, can: { send?: boolean; read?: boolean }): void => {
  const known = state.accounts[name]
  if (known) Object.assign(known, { send: can.send ?? known.send, read: can.read ?? known.read })
}

/** "Every session of a member account inherits it." What its account had of the room before is there again. */
export function join(state: State, room: string, name: string): void {
  const members = state.rooms[room] ?? []
  if (members.includes(name)) return
  state.rooms[room] = [...members, name]
  turn(state, room, name, 'hidden', 'open')
}

/** "Who leaves a room loses its mail." */
export function leave(state: State, room: string, name: string): void {
  if (!state.rooms[room]?.includes(name)) return
  state.rooms[room] = state.rooms[room].filter((member) => member !== name)
  turn(state, room, name, 'open', 'hidden')
}

function turn(state: State, room: string, name: string, from: 'open' | 'hidden', to: 'open' | 'hidden'): void {
  const boxes = new Set([name, ...sessionsOf(state, name).map(({ box }) => box)])
  for (const box of boxes)
    for (const copy of Object.values(state.boxes[box] ?? {}))
      if (copy.kind === 'room' && copy.room === room && copy.place === from) copy.place = to
}

/**
 * A session at its first contact. "A resumed agent keeps its mail": the successor of an ended session takes over its box and how
 * far it had read.
 */
export function begin(state: State, address: string, name: string, predecessor: string | null): void {
  const before = predecessor === null ? undefined : state.sessions[predecessor]
  if (before) before.succeeded = true
  state.sessions[address] = {
    address,
    account: name,
    box: before?.box ?? address,
    live: true,
    succeeded: false,
    given: before?.given ?? 0,
    opened: before?.opened ?? 0,
    withheld: [],
    filtered: {},
  }
}

/** "**Live** = that very process instance still exists." A claim is "released when its session ends". */
export function end(state: State, address: string): void {
  const session = state.sessions[address]
  if (!session) return
  session.live = false
  for (const [key, { session: holder }] of Object.entries(state.claims))
    if (holder === address) delete state.claims[key]
}

/** "An operator may release them to the account." Answers how many. */
export function release(state: State, address: string): { released: number } {
  const session = state.sessions[address]
  if (!session || session.live || session.succeeded) throw new Refused('not_orphaned')
  let released = 0
  for (const name of sessionMail(state, session.box)) {
    const own = boxOf(state, session.box)
    const copy = own[name]
    delete own[name]
    // sent to two sessions of the account, and released from the other one before
    if (!copy || copyIn(state, session.account, name)) continue
    boxOf(state, session.account)[name] = { ...copy, kind: 'account' }
    released++
  }
  return { released }
}

/** The mailbox starts anew: what it only had in mind is gone, everything else is there. */
export function restart(state: State): void {
  for (const session of Object.values(state.sessions)) Object.assign(session, { withheld: [], filtered: {} })
}
