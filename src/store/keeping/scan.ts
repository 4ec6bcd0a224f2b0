// What would go: conversations of which every letter has been closed for long enough, looked at a few at a time.
import type { Database } from 'bun:sqlite'
import type { LogReads } from '../reads/log.ts'
import { CANDIDATE, type Candidate, type Copy, Judge } from './judge.ts'

/** A piece of a conversation, newest first, so that what is left of one that is removed in pieces never misses its beginning. */
export type Part = { thread: number; ids: number[] }
export type Found = { part: Part; bytes: number; copies: readonly Copy[]; since: number }
/** Why a conversation stays: a copy is not closed, or was closed too lately. */
export type Kept = { copies: readonly Copy[]; why: 'not_closed' | 'too_young' }
export type Seen = { found: Found[]; kept: Kept[] }

/** Messages looked at at once: a millisecond or two. */
const SLICE = 48
/** Letters and copies that one write removes at most. */
const PART = 64
const PART_COPIES = 256

export class Scan {
  readonly #judge: Judge
  readonly #rows
  readonly #replies
  readonly #log: LogReads

  constructor(db: Database, log: LogReads) {
    this.#judge = new Judge(db)
    this.#log = log
    this.#rows = db.prepare<Candidate & { bytes: number }, [number, number, number]>(
      `SELECT octet_length(m.json) AS bytes, ${CANDIDATE} WHERE m.id > ? AND m.id < ? ORDER BY m.id LIMIT ?`,
    )
    this.#replies = db.prepare<Candidate & { bytes: number }, [number, number, number]>(
      `SELECT octet_length(m.json) AS bytes, ${CANDIDATE} WHERE m.thread = ? AND m.parent IS NOT NULL AND m.id < ? ORDER BY m.id DESC LIMIT ?`,
    )
  }

  /**
   * Conversations that began before `before` ms, oldest first, and whether they may go. `pause` is waited for between slices,
   * so that mail goes on meanwhile.
   */
  async *conversations(before: number, pause: () => Promise<void>): AsyncGenerator<Seen> {
    this.#judge.refresh()
    const end = this.#log.sequenceSince(before)
    for (let after = 0; ; await pause()) {
      const rows = this.#rows.all(after, end, SLICE)
      const seen: Seen = { found: [], kept: [] }
      for (const row of rows) if (row.parent === null) await this.#conversation(row, before, seen, pause)
      if (seen.found.length + seen.kept.length > 0) yield seen
      const last = rows.at(-1)
      if (!last || rows.length < SLICE) return
      after = last.id
    }
  }

  async #conversation(root: Candidate & { bytes: number }, before: number, seen: Seen, pause: () => Promise<void>) {
    const found: Found[] = []
    let replies = this.#replies.all(root.id, Number.MAX_SAFE_INTEGER, SLICE)
    for (;;) {
      const whole = replies.length < SLICE
      for (const row of whole ? [...replies, root] : replies) {
        const { copies, since } = this.#judge.judge(row)
        if (since === null || since >= before) {
          seen.kept.push({ copies, why: since === null ? 'not_closed' : 'too_young' })
          return
        }
        const part = { thread: root.id, ids: [row.id] }
        found.push({ part, bytes: row.bytes, copies, since })
      }
      if (whole) break
      await pause()
      replies = this.#replies.all(root.id, replies.at(-1)?.id ?? 0, SLICE)
    }
    seen.found.push(...found)
  }
}

/** Puts single letters together to as many as one write may remove; each thread's stay in their order. */
export function partsOf(found: readonly Found[]): Part[][] {
  const writes: Part[][] = []
  let parts: Part[] = []
  let letters = 0
  let copies = 0
  for (const { part, copies: own } of found) {
    if (letters >= PART || copies + own.length > PART_COPIES) {
      writes.push(parts)
      parts = []
      letters = copies = 0
    }
    const last = parts.at(-1)
    if (last?.thread === part.thread) last.ids.push(...part.ids)
    else parts.push({ thread: part.thread, ids: [...part.ids] })
    letters++
    copies += own.length
  }
  return parts.length > 0 ? [...writes, parts] : writes
}
