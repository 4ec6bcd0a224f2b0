// May a letter go? Only when every copy of it has been closed for long enough. The scan asks, and the writer again.
import type { Database } from 'bun:sqlite'
import { recipientsOf } from '../recipients.ts'
import { KIND, type Kind, type Recipient } from '../rows.ts'

/** A message as far as it matters here. */
export type Candidate = {
  id: number
  account: number
  senderBox: number
  thread: number
  parent: number | null
  created: number
  recipients: string
  /** When it was imported, ms; null for a letter that was sent here. */
  imported: number | null
}

export const CANDIDATE = `m.id, m.account, m.sender_box AS senderBox, m.thread, m.parent, m.created, m.recipients, i.at AS imported
  FROM message m LEFT JOIN imported i ON i.id = m.id`

/** `account`: whose it is; `own`: the copy of a room post in the box of the account that sent it. */
export type Copy = {
  box: number
  closed: 0 | 1 | 2
  kind: Kind
  closedAt: number | null
  account: number
  own: boolean
}

/** `since`: when the last copy was closed, in ms; null while one is not. */
export type Verdict = { copies: Copy[]; since: number | null }

type Box = { box: number; live: number; ended: number | null; begun: number }

export class Judge {
  readonly #copy
  readonly #accountBox
  readonly #boxes
  readonly #sessions = new Map<number, Box[]>()

  constructor(db: Database) {
    this.#copy = db.prepare<Omit<Copy, 'account' | 'own'>, [number, number]>(
      'SELECT box, closed, kind, closed_at AS closedAt FROM delivery WHERE box = ? AND closed IN (0, 1, 2) AND id = ?',
    )
    this.#accountBox = db.prepare<{ box: number }, [number]>('SELECT box FROM account WHERE id = ?')
    this.#boxes = db.prepare<Box, [number]>(
      'SELECT box, max(ended IS NULL) AS live, max(ended) AS ended, min(first_seen) AS begun FROM session WHERE account = ? GROUP BY box',
    )
  }

  /** Sessions come and go: what is known of them is asked for again. */
  refresh(): void {
    this.#sessions.clear()
  }

  judge(message: Candidate): Verdict {
    const copies = this.#copies(message, recipientsOf(message.recipients))
    let since = Math.max(message.created, message.imported ?? 0)
    for (const copy of copies) {
      const closed = this.#closedAt(message, copy)
      if (closed === null) return { copies, since: null }
      since = Math.max(since, closed)
    }
    return { copies, since }
  }

  /** Wherever a copy may lie: with its recipient, with the account of an ended session, with siblings that kept a room letter. */
  #copies(message: Candidate, recipients: readonly Recipient[]): Copy[] {
    const found = new Map<number, Copy>()
    for (const { kind, box, account } of recipients) {
      const places = [box]
      if (kind === KIND.session) places.push(this.#accountBox.get(account)?.box ?? box)
      if (kind === KIND.room)
        for (const one of this.#sessionsOf(account))
          if (one.live || (one.ended ?? 0) >= message.created) places.push(one.box)
      for (const place of places) {
        const row = found.has(place) ? null : this.#copy.get(place, message.id)
        if (row)
          found.set(place, { ...row, account, own: place === box && kind === KIND.room && account === message.account })
      }
    }
    return [...found.values()]
  }

  /**
   * When a copy was closed; null while it is not. A room letter that a session kept after another closed it is closed by that
   * session's end; of its own post an account is rid when no sibling of that time is left to read it.
   */
  #closedAt(message: Candidate, copy: Copy): number | null {
    if (copy.closed === 1) return copy.closedAt ?? message.created
    if (copy.closed === 2 || copy.kind !== KIND.room) return null
    const sessions = this.#sessionsOf(copy.account)
    if (copy.own) {
      const readers = sessions.filter(({ box, begun }) => box !== message.senderBox && begun <= message.created)
      return readers.some(({ live }) => live) ? null : Math.max(0, ...readers.map(({ ended }) => ended ?? 0))
    }
    const holder = sessions.find(({ box }) => box === copy.box)
    return holder && !holder.live ? holder.ended : null
  }

  #sessionsOf(account: number): Box[] {
    const known = this.#sessions.get(account) ?? this.#boxes.all(account)
    this.#sessions.set(account, known)
    return known
  }
}
