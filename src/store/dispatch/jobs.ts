// Write jobs of dispatch. An attempt is changed under its fence alone, so that what an older one still does is not taken.
import type { Context } from '../jobs/context.ts'
import type { EventRow } from '../rows.ts'
import { type AttemptChange, type DispatchChange, isFailed, type NewAttempt, type NewDispatch } from './rows.ts'

/** `events`: first of the sequence numbers reserved for the events of the job. */
export type DispatchJob =
  | { k: 'putAgent'; account: number; profile: string; paused: string | null; pausedAt: number | null; at: number }
  | { k: 'removeAgent'; account: number }
  | { k: 'pauseAll'; pause: string | null }
  | { k: 'queueDispatch'; row: NewDispatch; at: number; events: number }
  | { k: 'changeDispatch'; id: number; change: DispatchChange }
  | { k: 'planAttempt'; attempt: NewAttempt; agent: number; folder: string; at: number }
  | {
      k: 'changeAttempt'
      dispatch: number
      number: number
      fence: number
      change: AttemptChange
      at: number
      events: number
    }
  | {
      k: 'endAttempt'
      dispatch: number
      number: number
      fence: number
      change: AttemptChange
      then: DispatchChange
      pointer: { agent: number; folder: string; provider: string; session: string | null } | null
      at: number
      events: number
    }
  | { k: 'endDispatch'; id: number; change: DispatchChange; back: NewDispatch | null; at: number; events: number }

export type DispatchResults = {
  putAgent: null
  removeAgent: null
  pauseAll: null
  /** null: there is one for that letter already. */
  queueDispatch: { id: number | null; events: EventRow[] }
  changeDispatch: null
  /** null: another dispatch holds the agent or its folder. */
  planAttempt: { fence: number } | null
  /** Whether the fence was still the attempt's. */
  changeAttempt: { taken: boolean; events: EventRow[] }
  endAttempt: { taken: boolean; events: EventRow[] }
  endDispatch: { back: number | null; events: EventRow[] }
}

type JobOf<K extends DispatchJob['k']> = Extract<DispatchJob, { k: K }>
type Jobs = { [K in DispatchJob['k']]: (job: JobOf<K>) => DispatchResults[K] }

/** Member → column. */
const DISPATCH_COLUMNS: { readonly [M in keyof Required<DispatchChange>]: string } = {
  state: 'state',
  outcome: 'outcome',
  reason: 'reason',
  ready: 'ready',
  started: 'started',
  ended: 'ended',
  stop: 'stop',
  reply: 'reply',
  bounce: 'bounce',
}
const ATTEMPT_COLUMNS: { readonly [M in keyof Required<AttemptChange>]: string } = {
  session: 'session',
  pid: 'pid',
  start: 'start',
  boot: 'boot',
  spawned: 'spawned',
  healthy: 'healthy',
  ended: 'ended',
  cause: 'cause',
  detail: 'detail',
  exit: 'exit',
  signal: 'signal',
  forced: 'forced',
  leftover: 'leftover',
  cost: 'cost',
  turns: 'turns',
  tokens: 'tokens',
  tail: 'tail',
}

type Value = string | number | null
const plain = (value: unknown): Value =>
  typeof value === 'boolean' ? Number(value) : typeof value === 'string' || typeof value === 'number' ? value : null

/** `SET` of the members that are there, and their values in that order. */
function assignments(change: object, columns: Readonly<Record<string, string>>): { set: string; values: Value[] } {
  const given = Object.entries(change).filter(([name, value]) => value !== undefined && Object.hasOwn(columns, name))
  return {
    set: given.map(([name]) => `${columns[name]} = ?`).join(', '),
    values: given.map(([, value]) => plain(value)),
  }
}

/** Inserts a dispatch; also used by the send that brings its letter. Null: that letter has one for this agent. */
export function dispatchInserter({ db }: Context): (row: NewDispatch, at: number) => number | null {
  const insert = db.prepare<{ id: number }, Value[]>(
    `INSERT OR IGNORE INTO dispatch(agent, by_account, by_box, message, thread, fresh, depth, parent, back_of, state, created, ready)
     VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?) RETURNING id`,
  )
  return (row, at) => {
    const { agent, by, byBox, message, thread, fresh, depth, parent, backOf } = row
    return insert.get(agent, by, byBox, message, thread, Number(fresh), depth, parent, backOf, at, at)?.id ?? null
  }
}

export function dispatchJobs(context: Context): (job: DispatchJob) => DispatchResults[DispatchJob['k']] {
  const { db } = context
  const insert = dispatchInserter(context)
  const putAgent = db.prepare(
    `INSERT INTO agent(account, profile, paused, paused_at, created) VALUES(?, ?, ?, ?, ?)
     ON CONFLICT(account) DO UPDATE SET profile = excluded.profile, paused = excluded.paused, paused_at = excluded.paused_at`,
  )
  const removeAgent = db.prepare('DELETE FROM agent WHERE account = ?')
  const forget = db.prepare('DELETE FROM pointer WHERE agent = ?')
  const meta = db.prepare('INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)')
  const unmeta = db.prepare('DELETE FROM meta WHERE key = ?')
  const value = db.prepare<{ value: string }, [string]>('SELECT value FROM meta WHERE key = ?')
  const lease = db.prepare<{ dispatch: number }, [number, string]>(
    'SELECT dispatch FROM lease WHERE agent = ? OR folder = ?',
  )
  const take = db.prepare('INSERT OR REPLACE INTO lease(agent, folder, dispatch, fence, at) VALUES(?, ?, ?, ?, ?)')
  const release = db.prepare('DELETE FROM lease WHERE dispatch = ?')
  const attempt = db.prepare(
    `INSERT INTO attempt(dispatch, number, run, fence, digest, provider, mode, session, planned, forced, leftover)
     VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)`,
  )
  const begin = db.prepare(
    "UPDATE dispatch SET state = 'running', started = coalesce(started, ?) WHERE id = ? AND state IN ('queued', 'running')",
  )
  const point = db.prepare('INSERT OR REPLACE INTO pointer(agent, folder, provider, session, at) VALUES(?, ?, ?, ?, ?)')
  const unpoint = db.prepare('DELETE FROM pointer WHERE agent = ? AND folder = ? AND provider = ?')

  const agentOf = db.prepare<{ agent: number; message: number | null }, [number]>(
    'SELECT agent, message FROM dispatch WHERE id = ?',
  )
  const about = (dispatch: number) => ({ agent: 0, message: null, ...agentOf.get(dispatch), dispatch })

  function changeDispatch(id: number, change: DispatchChange): void {
    const { set, values } = assignments(change, DISPATCH_COLUMNS)
    if (set !== '') db.query(`UPDATE dispatch SET ${set} WHERE id = ?`).run(...values, id)
  }

  function changeAttempt(job: { dispatch: number; number: number; fence: number; change: AttemptChange }): boolean {
    const { set, values } = assignments(job.change, ATTEMPT_COLUMNS)
    const where = 'WHERE dispatch = ? AND number = ? AND fence = ? AND ended IS NULL'
    const { changes } = db
      .query(`UPDATE attempt SET ${set || 'number = number'} ${where}`)
      .run(...values, job.dispatch, job.number, job.fence)
    return changes > 0
  }

  const jobs: Jobs = {
    putAgent(job) {
      putAgent.run(job.account, job.profile, job.paused, job.pausedAt, job.at)
      return null
    },
    removeAgent(job) {
      removeAgent.run(job.account)
      forget.run(job.account)
      return null
    },
    pauseAll({ pause }) {
      if (pause === null) unmeta.run(PAUSE_KEY)
      else meta.run(PAUSE_KEY, pause)
      return null
    },
    queueDispatch({ row, at, events }) {
      const id = insert(row, at)
      return {
        id,
        events: id === null ? [] : [context.dispatchEvent(events, at, 'dispatch_queued', { ...row, dispatch: id })],
      }
    },
    changeDispatch(job) {
      changeDispatch(job.id, job.change)
      return null
    },
    planAttempt({ attempt: one, agent, folder, at }) {
      const holder = lease.all(agent, folder)
      if (holder.some(({ dispatch }) => dispatch !== one.dispatch)) return null
      if (begin.run(at, one.dispatch).changes === 0) return null
      const fence = Number(value.get(FENCE_KEY)?.value ?? 0) + 1
      meta.run(FENCE_KEY, String(fence))
      take.run(agent, folder, one.dispatch, fence, at)
      const { dispatch, number, run, digest, provider, mode, session } = one
      attempt.run(dispatch, number, run, fence, digest, provider, mode, session, at)
      return { fence }
    },
    changeAttempt(job) {
      const taken = changeAttempt(job)
      const started = taken && job.change.spawned != null
      return {
        taken,
        events: started
          ? [context.dispatchEvent(job.events, job.at, 'dispatch_started', about(job.dispatch), job.number)]
          : [],
      }
    },
    endAttempt(job) {
      if (!changeAttempt({ ...job, change: { ...job.change, ended: job.at } })) return { taken: false, events: [] }
      changeDispatch(job.dispatch, job.then)
      if (job.pointer) {
        const { agent, folder, provider, session } = job.pointer
        if (session === null) unpoint.run(agent, folder, provider)
        else point.run(agent, folder, provider, session, job.at)
      }
      const { events, at, dispatch, number, change } = job
      const ended = context.dispatchEvent(events, at, 'dispatch_attempt_ended', about(dispatch), number, change.cause)
      return { taken: true, events: [ended] }
    },
    endDispatch({ id, change, back, at, events: first }) {
      changeDispatch(id, { ...change, state: 'done', ended: at })
      release.run(id)
      const { outcome = null } = change
      const kind = isFailed(outcome) ? 'dispatch_failed' : 'dispatch_done'
      const events = [context.dispatchEvent(first, at, kind, about(id), null, outcome)]
      const next = back ? insert(back, at) : null
      if (back && next !== null)
        events.push(context.dispatchEvent(first + 1, at, 'dispatch_queued', { ...back, dispatch: next }))
      return { back: next, events }
    },
  }
  // each job is answered by the function of its own kind; the type of the pair is lost in the look-up
  return (job) => (jobs[job.k] as (job: DispatchJob) => DispatchResults[DispatchJob['k']])(job)
}

export const PAUSE_KEY = 'dispatch_pause'
const FENCE_KEY = 'dispatch_fence'
