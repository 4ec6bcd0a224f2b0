// The law book, first page: what there is. Plain data, so that a state can be copied and two courses of events compared.
//
// Letters are named by whoever wrote the history, sessions and accounts by their addresses. The order of `letters` is the
// order of the store: "Order and cursors are the store's sequence, never the clock."

/** "Capabilities: `send`, `read`, `dispatch`, `operator`." Those of which the book speaks. */
export type Account = { name: string; kind: 'agent' | 'person'; send: boolean; read: boolean }

/**
 * "One OS process instance that uses an account." `box` is its own mailbox, which a successor takes over. `given` and `opened` are
 * places in the order of letters: up to where it was given its mail, and up to where its cursors have opened it.
 */
export type Session = {
  address: string
  account: string
  box: string
  live: boolean
  succeeded: boolean
  given: number
  opened: number
  /** Shown without a body, or kept back for a sibling's claim: what a cursor passes then is not opened by it. Not on the disk. */
  withheld: string[]
  /** How far waits with a filter have come. Not on the disk. */
  filtered: Record<string, number>
}

/** Where a letter went: an account, one of its sessions, or an account as member of a room. */
export type Entry = { kind: 'account' | 'session' | 'room'; text: string; account: string; box: string; room: string }

export type Letter = {
  name: string
  from: string
  account: string
  box: string
  /** Only the session with this box may read it as sent mail; null: every session of the account. */
  scope: string | null
  thread: string
  parent: string | null
  hop: number
  to: Entry[]
}

/** "One account's copy of a message and its state." Hidden: the account has left the room. */
export type Copy = {
  kind: Entry['kind']
  room: string
  place: 'open' | 'closed' | 'hidden'
  opened: boolean
  openedBy: string | null
  closedBy: string | null
  reason: string | null
  updates: number
}

export type State = {
  /** Milliseconds; jumps with the machine's clock. */
  clock: number
  accounts: Record<string, Account>
  /** Members by room. */
  rooms: Record<string, string[]>
  sessions: Record<string, Session>
  letters: Letter[]
  /** box → letter → copy. An account's box has the account's name. */
  boxes: Record<string, Record<string, Copy>>
  /** `account key` → what was sent under it. */
  keys: Record<string, { letter: string; content: string }>
  /** `account box key` → the letter that stands for that signal now. */
  signals: Record<string, { letter: string; updates: number }>
  /** `box letter` → who works on it, until when. */
  claims: Record<string, { session: string; until: number }>
}

export const nothing = (): State => ({
  clock: 0,
  accounts: {},
  rooms: {},
  sessions: {},
  letters: [],
  boxes: {},
  keys: {},
  signals: {},
  claims: {},
})

/** A refusal by its kind. */
export class Refused extends Error {
  constructor(readonly kind: string) {
    super(kind)
  }
}

export const letterOf = (state: State, name: string): Letter | undefined =>
  state.letters.find((letter) => letter.name === name)

/** Its place in the order, from 1 on. */
export const placeOf = (state: State, name: string): number =>
  state.letters.findIndex((letter) => letter.name === name) + 1

/** A copy that is not hidden. */
export function copyIn(state: State, box: string, letter: string): Copy | null {
  const copy = state.boxes[box]?.[letter]
  return copy && copy.place !== 'hidden' ? copy : null
}

export const isMember = (state: State, room: string, account: string): boolean =>
  state.rooms[room]?.includes(account) ?? false

/** Those of an account, in the order in which they came. */
export const sessionsOf = (state: State, account: string): Session[] =>
  Object.values(state.sessions).filter((session) => session.account === account)

/** Who has that box now: of those that shared it by succession the newest. */
export const holderOf = (state: State, box: string): Session | undefined =>
  Object.values(state.sessions).findLast((session) => session.box === box)
