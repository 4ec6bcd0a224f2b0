// Reads of dispatch: what is open, what was asked for, attempts, session pointers.
import type { Database } from 'bun:sqlite'
import { PAUSE_KEY } from './jobs.ts'
import type { AgentRow, AttemptRow, DispatchRow, Outcome, Pause } from './rows.ts'

const DISPATCH = `id, agent, by_account AS by, by_box AS byBox, message, thread, fresh, depth, parent, back_of AS backOf, state, outcome,
  reason, created, ready, started, ended, stop, reply, bounce`
const ATTEMPT = `dispatch, number, run, fence, digest, provider, mode, session, planned, pid, start, boot, spawned, healthy, ended,
  cause, detail, exit, signal, forced, leftover, cost, turns, tokens, tail`

const FAILED = "('silent', 'failed', 'timed_out')"

type Stored<Row> = { [M in keyof Row]: Row[M] extends boolean ? number : Row[M] }
const dispatchRow = (row: Stored<DispatchRow>): DispatchRow => ({ ...row, fresh: row.fresh === 1 })
const attemptRow = (row: Stored<AttemptRow>): AttemptRow => ({ ...row, forced: row.forced === 1 })

/** Whose dispatches: those asked for by an account or done by it; null: everybody's. */
export type Whose = number | null

export class DispatchReads {
  readonly #db: Database
  constructor(db: Database) {
    this.#db = db
  }

  agents(): AgentRow[] {
    type Columns = Omit<AgentRow, 'profile'> & { profile: string }
    return this.#db
      .query<Columns, []>('SELECT account, profile, paused, paused_at AS pausedAt, created FROM agent')
      .all()
      .map((row) => ({ ...row, profile: JSON.parse(row.profile) }))
  }

  pause(): Pause | null {
    const row = this.#db.query<{ value: string }, [string]>('SELECT value FROM meta WHERE key = ?').get(PAUSE_KEY)
    return row ? JSON.parse(row.value) : null
  }

  /** Not done, in the order in which they were asked for. */
  open(): DispatchRow[] {
    return this.#all("state <> 'done' ORDER BY id")
  }

  dispatch(id: number): DispatchRow | null {
    return this.#all('id = ?', id)[0] ?? null
  }

  ofMessage(message: number): DispatchRow | null {
    return this.#all('message = ? ORDER BY id LIMIT 1', message)[0] ?? null
  }

  /** Times at which dispatches of an agent were asked for, after `since`. */
  createdSince(agent: number, since: number): number[] {
    return this.#db
      .query<{ created: number }, [number, number]>('SELECT created FROM dispatch WHERE agent = ? AND created > ?')
      .all(agent, since)
      .map((row) => row.created)
  }

  /** How many ended with which outcome, ever. */
  outcomes(): Map<Outcome, number> {
    const rows = this.#db
      .query<{ outcome: Outcome; count: number }, []>(
        'SELECT outcome, count(*) AS count FROM dispatch WHERE outcome IS NOT NULL AND ended IS NOT NULL GROUP BY outcome',
      )
      .all()
    return new Map(rows.map(({ outcome, count }) => [outcome, count]))
  }

  /** When those that came to nothing ended, after `since`. */
  failedSince(since: number): number[] {
    return this.#db
      .query<{ ended: number }, [number]>(`SELECT ended FROM dispatch WHERE ended > ? AND outcome IN ${FAILED}`)
      .all(since)
      .map((row) => row.ended)
  }

  /** Newest first, below `before`. `failed`: only those that came to nothing. */
  list(whose: Whose, failed: boolean, before: number, limit: number): DispatchRow[] {
    const bad = failed ? `AND outcome IN ${FAILED}` : ''
    if (whose === null) return this.#all(`id < ? ${bad} ORDER BY id DESC LIMIT ?`, before, limit)
    return this.#all(
      `id < ? ${bad} AND (by_account = ? OR agent = ?) ORDER BY id DESC LIMIT ?`,
      before,
      whose,
      whose,
      limit,
    )
  }

  attempts(dispatch: number): AttemptRow[] {
    return this.#db
      .query<Stored<AttemptRow>, [number]>(`SELECT ${ATTEMPT} FROM attempt WHERE dispatch = ? ORDER BY number`)
      .all(dispatch)
      .map(attemptRow)
  }

  /** Begun and not ended. */
  openAttempts(): AttemptRow[] {
    return this.#db
      .query<Stored<AttemptRow>, []>(`SELECT ${ATTEMPT} FROM attempt WHERE ended IS NULL ORDER BY fence`)
      .all()
      .map(attemptRow)
  }

  /** The client's session that this agent goes on with in that folder. */
  pointer(agent: number, folder: string, provider: string): string | null {
    return (
      this.#db
        .query<{ session: string }, [number, string, string]>(
          'SELECT session FROM pointer WHERE agent = ? AND folder = ? AND provider = ?',
        )
        .get(agent, folder, provider)?.session ?? null
    )
  }

  #all(where: string, ...values: number[]): DispatchRow[] {
    return this.#db
      .query<Stored<DispatchRow>, number[]>(`SELECT ${DISPATCH} FROM dispatch WHERE ${where}`)
      .all(...values)
      .map(dispatchRow)
  }
}
