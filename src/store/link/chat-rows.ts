// What the link remembers of Matrix rooms for people: which are bound to a room of the mailbox, and how far others have read.
import type { Database } from 'bun:sqlite'

export type Bound = { room: string; local: string }
/** `at`: ms, as the homeserver says; 0 where it does not. */
export type SeenRow = { user: string; event: string; at: number }

export class ChatRows {
  readonly #db

  constructor(db: Database) {
    this.#db = db
  }

  bound(): Bound[] {
    return this.#db.query<Bound, []>('SELECT room, local FROM bound ORDER BY room').all()
  }

  bind(room: string, local: string): void {
    this.#db.run('INSERT OR REPLACE INTO bound VALUES(?, ?)', [room, local])
  }

  unbind(room: string): void {
    this.#db.run('DELETE FROM bound WHERE room = ?', [room])
  }

  saw(room: string, { user, event, at }: SeenRow): void {
    this.#db.run('INSERT OR REPLACE INTO seen VALUES(?, ?, ?, ?)', [room, user, event, at])
  }

  seen(room: string): SeenRow[] {
    return this.#db
      .query<SeenRow, [string]>('SELECT user, event, at FROM seen WHERE room = ? ORDER BY at DESC, user')
      .all(room)
  }

  /** Sequences of our messages that are texts in the room of that lane, behind `after` and up to `upTo`, ascending. */
  texts(lane: string, after: number, upTo: number): number[] {
    return this.#db
      .query<{ ours: number }, [number, number, string]>(
        "SELECT ours FROM mapped WHERE ours > ? AND ours <= ? AND peer = ? AND kind = 'event' ORDER BY ours",
      )
      .all(after, upTo, lane)
      .map(({ ours }) => ours)
  }
}
