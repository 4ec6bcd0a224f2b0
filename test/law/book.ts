// The law book as a function: what one call does to a state and what it is answered, in the words of the book.
import * as listing from './listing.ts'
import * as people from './people.ts'
import * as sending from './sending.ts'
import * as settling from './settling.ts'
import { Refused, type State } from './state.ts'

/** A call of a session; its letters are named as in the history. */
export type Asked =
  | ({ op: 'send' } & sending.Sending)
  | { op: 'ack' | 'reopen'; letters: string[] }
  | { op: 'claim'; letters: string[]; seconds: number }
  | { op: 'get'; letter: string; peek: boolean }
  | ({ op: 'inbox' } & listing.Listing)
  | { op: 'unread' | 'sent' }
  | { op: 'receipts' | 'thread'; letter: string }

/** What happens to the mailbox beside calls. */
export type Event =
  | { event: 'begin'; address: string; account: string; predecessor: string | null }
  | { event: 'end'; address: string }
  | { event: 'join' | 'leave'; room: string; account: string }
  | { event: 'allow'; account: string; send?: boolean; read?: boolean }
  | { event: 'clock'; by: number }
  | { event: 'restart' }

export type Answer = Record<string, unknown>

/** Changes `state`; a call that is refused changes nothing. */
export function call(state: State, by: string, asked: Asked): Answer {
  const before = structuredClone(state)
  try {
    return answer(state, by, asked)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    Object.assign(state, before)
    return { refused: error.kind }
  }
}

function answer(state: State, by: string, asked: Asked): Answer {
  const session = state.sessions[by]
  if (!session?.live) throw new Error(`${by} does not run`)
  const account = state.accounts[session.account]
  if (!account?.[asked.op === 'send' ? 'send' : 'read']) throw new Refused('permission_denied')
  switch (asked.op) {
    case 'send':
      return sending.send(state, session, asked)
    case 'ack':
      return settling.each(state, session, asked.letters, (name) =>
        settling.settle(state, session, name, 'acknowledged'),
      )
    case 'reopen':
      return settling.each(state, session, asked.letters, (name) => settling.reopen(state, session, name))
    case 'claim':
      return settling.each(state, session, asked.letters, (name) => settling.claim(state, session, name, asked.seconds))
    case 'get':
      return listing.get(state, session, asked.letter, asked.peek)
    case 'inbox':
      return listing.inbox(state, session, asked)
    case 'unread':
      return { unread: settling.unread(state, session) }
    case 'sent':
      return listing.sent(state, session)
    case 'receipts':
      return listing.receipts(state, session, asked.letter)
    case 'thread':
      return listing.thread(state, session, asked.letter)
  }
}

export function happen(state: State, what: Event): void {
  switch (what.event) {
    case 'begin':
      return people.begin(state, what.address, what.account, what.predecessor)
    case 'end':
      return people.end(state, what.address)
    case 'join':
      return people.join(state, what.room, what.account)
    case 'leave':
      return people.leave(state, what.room, what.account)
    case 'allow':
      return people.allow(state, what.account, what)
    case 'clock':
      state.clock += what.by
      return
    case 'restart':
      return people.restart(state)
  }
}
