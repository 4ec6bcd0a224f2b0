// Reads of a mailbox: the account's box and the session's own, merged by sequence. One walk of the delivery key per box.
// Nothing is skipped in SQL, which could walk a whole mailbox for one row: a row that is no mail to the reader comes with an
// empty `json`, so that the reader can count what it has looked at, and stop.
import type { Database, Statement } from 'bun:sqlite'
import type { PageRow } from '../rows.ts'
import type { PageQuery } from '../store.ts'

const COLUMNS = `d.box, d.closed, d.id, d.kind, d.room, d.notified, d.opened, d.opened_by AS openedBy, d.closed_at AS closedAt,
  d.closed_by AS closedBy, d.reason, d.updates, m.sender_box AS senderBox, m.created`

/** Bounds: box, closed, after, the reader's own box (whose room posts are not mail to it), since, limit. */
const walk = (without: string) => `SELECT ${COLUMNS},
  CASE WHEN (d.kind = 2 AND m.sender_box = ?4) OR m.created < ?5 ${without} THEN '' ELSE m.json END AS json
  FROM delivery d JOIN message m ON m.id = d.id WHERE d.box = ?1 AND d.closed = ?2 AND d.id > ?3 ORDER BY d.id LIMIT ?6`

export const SQL = {
  open: walk(''),
  // the account's record of a room letter that this session keeps a copy of is not a second letter
  accountClosed: walk('OR EXISTS (SELECT 1 FROM delivery x WHERE x.box = ?4 AND x.closed IN (0, 1) AND x.id = d.id)'),
  counts: 'SELECT open, own FROM box WHERE id = ?',
  oldest:
    'SELECT d.id, m.created FROM delivery d JOIN message m ON m.id = d.id WHERE d.box = ? AND d.closed = 0 ORDER BY d.id LIMIT 1',
  orphanCount:
    'SELECT count(*) AS count FROM (SELECT 1 FROM delivery WHERE box = ? AND closed = 0 AND kind = 1 LIMIT 1000)',
  orphans: 'SELECT id FROM delivery WHERE box = ? AND closed = 0 AND kind = 1 ORDER BY id LIMIT ?',
  unopened: `SELECT box, closed, id, kind, room, notified, opened, opened_by AS openedBy, closed_at AS closedAt, closed_by AS closedBy, reason, updates
    FROM delivery WHERE box = ? AND closed = 0 AND opened IS NULL ORDER BY id LIMIT ?`,
} as const

type Start = [number, number, number, number, number]
type Bounds = [...Start, number]
type Walk = Statement<PageRow, Bounds>
type Counts = { open: number; own: number }

/**
 * Rows read at once: all that the reader expects where letters are short, since each statement has its price; a few where
 * they are long, so that no megabyte is read that the budget of the answer then leaves out.
 */
const FEW = 8
/** Who goes on beyond what it expected finds little: it reads more and more at once. */
const MANY = 256
const LONG_LETTER = 2_000

export class PageReads {
  readonly #letters = new Letters()
  readonly #walk: Walk
  readonly #accountClosed: Walk
  readonly #counts
  /** Counters of boxes, as of the last commit. */
  readonly #known = new Map<number, Counts>()
  readonly #oldest
  readonly #orphanCount
  readonly #orphans
  readonly #unopened

  constructor(db: Database) {
    this.#walk = db.prepare<PageRow, Bounds>(SQL.open)
    this.#accountClosed = db.prepare<PageRow, Bounds>(SQL.accountClosed)
    this.#counts = db.prepare<Counts, [number]>(SQL.counts)
    this.#oldest = db.prepare<{ id: number; created: number }, [number]>(SQL.oldest)
    this.#orphanCount = db.prepare<{ count: number }, [number]>(SQL.orphanCount)
    this.#orphans = db.prepare<{ id: number }, [number, number]>(SQL.orphans)
    this.#unopened = db.prepare<PageRow, [number, number]>(SQL.unopened)
  }

  /** `from`: sequence before which nothing is as young as `query.since`; `visible`: who has left a room sees none of its letters. */
  page(query: PageQuery, from: number, visible: (row: PageRow) => boolean): IterableIterator<PageRow> {
    const after = Math.max(query.after, from - 1)
    const { accountBox, sessionBox } = query
    const since = query.since ?? 0
    const rows = (walk: Walk, box: number, closed: 0 | 1) =>
      new Stream(walk, [box, closed, after, sessionBox, since], query.expect, this.#letters)
    // most sessions have nothing of their own: the counter says so for less than a walk
    const open = () =>
      [sessionBox, accountBox].filter((box) => this.openCount(box) > 0).map((box) => rows(this.#walk, box, 0))
    const closed = () => [rows(this.#walk, sessionBox, 1), rows(this.#accountClosed, accountBox, 1)]
    if (query.which === 'open') return merge(open(), visible)
    return merge(query.which === 'closed' ? closed() : [...open(), ...closed()], visible)
  }

  unread(accountBox: number, sessionBox: number): number {
    const own = this.#countsOf(sessionBox)
    return this.#countsOf(accountBox).open + own.open - own.own
  }

  openCount(box: number): number {
    return this.#countsOf(box).open
  }

  /** Something was committed: what was read before may have changed. */
  forget(): void {
    this.#known.clear()
  }

  #countsOf(box: number): Counts {
    const known = this.#known.get(box)
    if (known) return known
    const counts = this.#counts.get(box) ?? { open: 0, own: 0 }
    this.#known.set(box, counts)
    return counts
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

/** Were the letters read last long ones? */
class Letters {
  long = false

  seen(rows: readonly PageRow[]): void {
    if (rows.length > 0) this.long = rows.reduce((sum, row) => sum + row.json.length, 0) / rows.length > LONG_LETTER
  }
}

/** One walk, `expect` rows in all: each row that is read and not used costs as much as one that is. */
class Stream {
  #rows: PageRow[]
  #at = 0
  #size: number
  #seen = 0

  constructor(
    readonly walk: Walk,
    readonly start: Start,
    readonly expect: number,
    readonly letters: Letters,
  ) {
    this.#size = letters.long ? Math.min(FEW, expect) : expect
    this.#rows = this.#read(start[2])
  }

  get head(): PageRow | undefined {
    return this.#rows[this.#at]
  }

  next(): void {
    const last = this.#rows[this.#at++]
    if (this.#at < this.#rows.length || !last || this.#rows.length < this.#size) return
    this.#seen += this.#rows.length
    const rest = this.expect - this.#seen
    this.#size = this.letters.long ? FEW : Math.max(FEW, rest > 0 ? rest : Math.min(2 * this.#size, MANY))
    this.#rows = this.#read(last.id)
    this.#at = 0
  }

  #read(after: number): PageRow[] {
    const [box, closed, , sessionBox, since] = this.start
    const rows = this.walk.all(box, closed, after, sessionBox, since, this.#size)
    this.letters.seen(rows)
    return rows
  }
}

/**
 * Merges streams that each ascend by id. A letter to two sessions, one of which has ended and was released, lies in the other's
 * box and in the account's: it is shown once, as the session's own.
 */
function* merge(streams: readonly Stream[], visible: (row: PageRow) => boolean): IterableIterator<PageRow> {
  let last = 0
  for (;;) {
    let least: Stream | undefined
    for (const one of streams) if (one.head && (!least?.head || one.head.id < least.head.id)) least = one
    const row = least?.head
    if (!least || !row) return
    if (row.id !== last) yield visible(row) ? row : { ...row, json: '' }
    last = row.id
    least.next()
  }
}
