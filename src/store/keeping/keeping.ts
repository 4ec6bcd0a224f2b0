// Keeping: what is removed after its time, what is archived, carried out and carried in. One interface beside the store's own.
import type { AccountRow, Kind, MessageRow, PageRow } from '../rows.ts'
import type { Policy } from './policy.ts'

/** What a retention pass removes, or would remove. */
export type Retained = {
  messages: number
  conversations: number
  bytes: number
  events: number
  /** By account row id: whose copies go, and of conversations as old which stay because they are not closed, or not for long enough. */
  accounts: Map<number, { going: number; notClosed: number; tooYoung: number }>
  /** Times of the last close of what goes, ms. */
  oldest: number | null
  newest: number | null
}

/** A copy as it comes from elsewhere. Times in ms. */
export type ImportedCopy = {
  text: string
  kind: Kind
  box: number
  account: number
  room: number
  closed: 0 | 1 | 2
  notified: number | null
  opened: number | null
  closedAt: number | null
  reason: string | null
  updates: number
}

/** A letter as it comes from elsewhere. `account`: row id of its sender here, `thread` and `parent`: sequences. */
export type ImportedLetter = {
  key: string
  account: number
  created: number
  hop: number
  copies: readonly ImportedCopy[]
  thread: number | null
  /** Under which its thread is to be found by others, where the beginning of the thread is not here. */
  threadKey: string | null
  parent: number | null
  fragment: (id: number, random: string, created: number) => string
}

export type RawCopy = Omit<PageRow, 'json' | 'senderBox' | 'created'>

export interface Keeping {
  /** Set at the start from the configuration. */
  policy: Policy
  /** Retention has removed nothing above this sequence. */
  readonly floor: number
  /** What would go at `now` (ms), without removing it. Stops early, with what it has, when `signal` aborts. */
  plan(now: number, signal?: AbortSignal): Promise<Retained>
  /** Removes it, a few at a time, between the writes of others. One pass at a time; a second waits for the first. */
  retain(now: number, signal?: AbortSignal): Promise<Retained>
  /** Closed mail of one reader, newest first, below `before`. A row that is no mail to it has an empty `json`. */
  archive(account: AccountRow, sessionBox: number, before: number): IterableIterator<PageRow>
  /** Every message above `after`, ascending, at most `limit`. */
  messages(after: number, limit: number): MessageRow[]
  /** The copy of `id` in `box`, a hidden one too (`closed` 2). */
  copy(box: number, id: number): RawCopy | null
  /** Sequence of the letter that was imported under `key`. */
  imported(key: string): number | null
  /** Sequence of the thread whose beginning `key` names and is not here. */
  importedThread(key: string): number | null
  /** Takes a number for each of `count` letters, so that those of one batch can refer to each other. */
  reserve(count: number): number
  /** All of them in one transaction; letter `i` gets sequence `first + i`. Rings and wakes nobody. */
  add(first: number, letters: readonly ImportedLetter[], now: number): Promise<void>
}
