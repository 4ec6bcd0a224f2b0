// The outbox of the link: items that wait for each peer, and the frames that are under way until the peer has them.
import type { Database } from 'bun:sqlite'

/** A message (its sequence) or a receipt (ready JSON). */
export type Item = { n: number; message: number | null; receipt: string | null }
export type Frame = {
  peer: string
  seq: number
  /** The content of the event as JSON, but for what is known when it is sent. */
  payload: string
  room: string | null
  /** What was encrypted, once it was: the same text goes out again under the same transaction id. */
  event: string | null
  txn: string | null
  sent: number | null
  tries: number
}
/** Times in ms. */
export type ItemFate = { frame: number | null; sent: number | null; received: number | null }

export class Outbox {
  readonly #db
  readonly #add
  readonly #addReceipt
  readonly #queued
  readonly #assign
  readonly #insertFrame
  readonly #frames
  readonly #fate
  readonly #refusal

  constructor(db: Database) {
    this.#db = db
    this.#add = db.prepare('INSERT OR IGNORE INTO item(peer, message) VALUES(?, ?)')
    this.#addReceipt = db.prepare('INSERT INTO item(peer, receipt) VALUES(?, ?)')
    this.#queued = db.prepare<Item, [string, number]>(
      'SELECT n, message, receipt FROM item WHERE peer = ? AND frame IS NULL ORDER BY n LIMIT ?',
    )
    this.#assign = db.prepare('UPDATE item SET frame = ? WHERE n = ?')
    this.#insertFrame = db.prepare('INSERT INTO frame(peer, seq, payload) VALUES(?, ?, ?)')
    this.#frames = db.prepare<Frame, [string]>(
      'SELECT peer, seq, payload, room, event, txn, sent, tries FROM frame WHERE peer = ? ORDER BY seq',
    )
    this.#fate = db.prepare<ItemFate, [string, number]>(
      'SELECT frame, sent, received FROM item WHERE peer = ? AND message = ?',
    )
    this.#refusal = db.prepare<{ reason: string }, [number, number]>(
      'SELECT reason FROM refused WHERE message = ? AND box = ?',
    )
  }

  /** All in one transaction; a message that is there already stays as it is. */
  queue(items: readonly { peer: string; message?: number; receipt?: string }[]): void {
    this.#db
      .transaction(() => {
        for (const { peer, message, receipt } of items)
          if (message !== undefined) this.#add.run(peer, message)
          else if (receipt !== undefined) this.#addReceipt.run(peer, receipt)
      })
      .immediate()
  }

  queued(peer: string, limit: number): Item[] {
    return this.#queued.all(peer, limit)
  }

  /** Puts items into new frames. The items belong to the last of them: only then has the peer the whole. */
  frame(peer: string, items: readonly number[], payloads: readonly string[]): void {
    this.#db
      .transaction(() => {
        const row = this.#db
          .query<{ next: number }, [number, string]>('UPDATE lane SET next = next + ? WHERE peer = ? RETURNING next')
          .get(payloads.length, peer)
        const first = (row?.next ?? 1) - payloads.length
        payloads.forEach((payload, index) => {
          this.#insertFrame.run(peer, first + index, payload)
        })
        for (const n of items) this.#assign.run(first + payloads.length - 1, n)
      })
      .immediate()
  }

  /** What is under way, in order. */
  frames(peer: string): Frame[] {
    return this.#frames.all(peer)
  }

  /** Kept before it is sent: a crash sends the same text under the same transaction id. */
  encrypted(frame: Frame, room: string, event: string, txn: string): void {
    this.#db.run('UPDATE frame SET room = ?, event = ?, txn = ?, sent = NULL WHERE peer = ? AND seq = ?', [
      room,
      event,
      txn,
      frame.peer,
      frame.seq,
    ])
  }

  sent(frame: Frame, at: number): void {
    this.#db
      .transaction(() => {
        this.#db.run('UPDATE frame SET sent = ?, tries = tries + 1 WHERE peer = ? AND seq = ?', [
          at,
          frame.peer,
          frame.seq,
        ])
        this.#db.run('UPDATE item SET sent = coalesce(sent, ?) WHERE peer = ? AND frame = ?', [
          at,
          frame.peer,
          frame.seq,
        ])
      })
      .immediate()
  }

  /** All that is under way is encrypted and sent anew: the peer has other keys, or begins anew. */
  anew(peer: string): void {
    this.#db.run('UPDATE frame SET event = NULL, txn = NULL, sent = NULL WHERE peer = ?', [peer])
  }

  /** That frame did not arrive, and was not sent after `before` (ms): it is encrypted and sent anew. */
  lost(peer: string, seq: number, before: number): void {
    this.#db.run('UPDATE frame SET event = NULL, txn = NULL, sent = NULL WHERE peer = ? AND seq = ? AND sent <= ?', [
      peer,
      seq,
      before,
    ])
  }

  /** The peer has every frame up to that one. */
  received(peer: string, upTo: number, at: number): void {
    this.#db
      .transaction(() => {
        this.#db.run('DELETE FROM frame WHERE peer = ? AND seq <= ?', [peer, upTo])
        this.#db.run('DELETE FROM item WHERE peer = ? AND frame <= ? AND message IS NULL', [peer, upTo])
        this.#db.run('UPDATE item SET received = ? WHERE peer = ? AND frame <= ? AND received IS NULL', [
          at,
          peer,
          upTo,
        ])
      })
      .immediate()
  }

  /** Nothing more is to be told of it than its delivery says. */
  settled(peer: string, message: number): void {
    this.#db.run('DELETE FROM item WHERE peer = ? AND message = ? AND received IS NOT NULL', [peer, message])
  }

  refuse(message: number, box: number, reason: string): void {
    this.#db.run('INSERT OR REPLACE INTO refused(message, box, reason) VALUES(?, ?, ?)', [message, box, reason])
  }

  fate(peer: string, message: number): ItemFate | null {
    return this.#fate.get(peer, message)
  }

  refusal(message: number, box: number): string | null {
    return this.#refusal.get(message, box)?.reason ?? null
  }

  counts(peer: string): { queued: number; underWay: number } {
    const row = this.#db
      .query<{ queued: number; underWay: number }, [string, string]>(
        `SELECT (SELECT count(*) FROM item WHERE peer = ? AND frame IS NULL) AS queued,
          (SELECT count(*) FROM item WHERE peer = ? AND frame IS NOT NULL AND received IS NULL) AS underWay`,
      )
      .get(peer, peer)
    return row ?? { queued: 0, underWay: 0 }
  }
}
