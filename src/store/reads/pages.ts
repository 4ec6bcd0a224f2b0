// Reads of a mailbox: the account's box and the session's own, merged by sequence. One walk of the delivery key per box.
import type { Database } from 'bun:sqlite'
import type { PageRow } from '../rows.ts'
import type { PageQuery } from '../store.ts'

const COLUMNS = `d.box, d.closed, d.id, d.kind, d.room, d.notified, d.opened, d.opened_by AS openedBy, d.closed_at AS closedAt,
  d.closed_by AS closedBy, d.reason, d.updates, m.json, m.sender_box AS senderBox, m.created`

/** Bounds: box, closed, after, the reader's own box (whose room posts are not mail to it), since. */
const walk = (more: string) => `SELECT ${COLUMNS} FROM delivery d JOIN message m ON m.id = d.id
  WHERE d.box = ?1 AND d.closed = ?2 AND d.id > ?3 AND NOT (d.kind = 2 AND m.sender_box = ?4) AND m.created >= ?5 ${more} ORDER BY d.id`

export const SQL = {
  own: walk(''),
  account: walk(''),
  // the account's record of a room letter that this session keeps a copy of is not a second letter
  accountClosed: walk(
    'AND NOT EXISTS (SELECT 1 FROM delivery x WHERE x.box = ?4 AND x.closed IN (0, 1) AND x.id = d.id)',
  ),
  open: 'SELECT open, own FROM box WHERE id = ?',
  oldest:
    'SELECT d.id, m.created FROM delivery d JOIN message m ON m.id = d.id WHERE d.box = ? AND d.closed = 0 ORDER BY d.id LIMIT 1',
  orphanCount:
    'SELECT count(*) AS count FROM (SELECT 1 FROM delivery WHERE box = ? AND closed = 0 AND kind = 1 LIMIT 1000)',
  orphans: 'SELECT id FROM delivery WHERE box = ? AND closed = 0 AND kind = 1 ORDER BY id LIMIT ?',
  unopened: `SELECT box, closed, id, kind, room, notified, opened, opened_by AS openedBy, closed_at AS closedAt, closed_by AS closedBy, reason, updates
    FROM delivery WHERE box = ? AND closed = 0 AND opened IS NULL ORDER BY id LIMIT ?`,
} as const

type Bounds = [number, number, number, number, number]

export class PageReads {
  readonly #walks
  readonly #open
  readonly #oldest
  readonly #orphanCount
  readonly #orphans
  readonly #unopened

  constructor(db: Database) {
    const prepare = (sql: string) => db.prepare<PageRow, Bounds>(sql)
    // a statement is one cursor: the four walks that may be open side by side have one each
    this.#walks = {
      own: [prepare(SQL.own), prepare(SQL.own)],
      account: [prepare(SQL.account), prepare(SQL.accountClosed)],
    } as const
    this.#open = db.prepare<{ open: number; own: number }, [number]>(SQL.open)
    this.#oldest = db.prepare<{ id: number; created: number }, [number]>(SQL.oldest)
    this.#orphanCount = db.prepare<{ count: number }, [number]>(SQL.orphanCount)
    this.#orphans = db.prepare<{ id: number }, [number, number]>(SQL.orphans)
    this.#unopened = db.prepare<PageRow, [number, number]>(SQL.unopened)
  }

  /** `from`: sequence before which nothing is as young as `query.since`. */
  page(query: PageQuery, from: number): IterableIterator<PageRow> {
    const after = Math.max(query.after, from - 1)
    const rows = (closed: 0 | 1): IterableIterator<PageRow>[] =>
      (['own', 'account'] as const).map((which) => {
        const box = which === 'own' ? query.sessionBox : query.accountBox
        return this.#walks[which][closed].iterate(box, closed, after, query.sessionBox, query.since ?? 0)
      })
    if (query.which === 'open') return merge(rows(0))
    return merge(query.which === 'closed' ? rows(1) : [...rows(0), ...rows(1)])
  }

  unread(accountBox: number, sessionBox: number): number {
    const own = this.#open.get(sessionBox)
    return this.openCount(accountBox) + (own ? own.open - own.own : 0)
  }

  openCount(box: number): number {
    return this.#open.get(box)?.open ?? 0
  }

  oldestOpen(box: number): { id: number; created: number } | null {
    return this.#oldest.get(box) ?? null
  }

  orphans(box: number, limit: number): { count: number; ids: number[] } {
    const ids = this.#orphans.all(box, limit).map((row) => row.id)
    return { count: ids.length < limit ? ids.length : (this.#orphanCount.get(box)?.count ?? 0), ids }
  }

  unopened(box: number, limit: number): PageRow[] {
    return this.#unopened.all(box, limit)
  }
}

/**
 * Merges streams that each ascend by id. A letter to two sessions, one of which has ended and was released, lies in the other's
 * box and in the account's: it is shown once, as the session's own.
 */
function* merge(streams: IterableIterator<PageRow>[]): IterableIterator<PageRow> {
  const heads = streams.map((rows) => ({ rows, head: rows.next() }))
  let last = 0
  try {
    for (;;) {
      let least: (typeof heads)[number] | null = null
      for (const one of heads)
        if (!one.head.done && (!least || least.head.done || one.head.value.id < least.head.value.id)) least = one
      if (!least || least.head.done) return
      if (least.head.value.id !== last) {
        last = least.head.value.id
        yield least.head.value
      }
      least.head = least.rows.next()
    }
  } finally {
    for (const { rows } of heads) rows.return?.()
  }
}
