// The writes of the store as plain data: what crosses to the writer thread, and what comes back.
import type { Declared } from '../../wire/card.ts'
import type { CloseReason } from '../../wire/letter.ts'
import type { AccountRow, EventRow, InstanceKey, Recipient } from '../rows.ts'
import type { SendOutcome, Settled } from '../store.ts'
import type { WakeJob, WakeResults } from '../wake/jobs.ts'

/** `events`: first of the sequence numbers reserved for the events of this job. */
type Reserved = { events: number; at: number }

/** Who settles: row ids, and the boxes that the reader sees. */
type Reader = { account: number; accountBox: number; session: number; sessionBox: number }

export type SendRow = Reserved & {
  k: 'send'
  id: number
  random: string
  reader: Reader
  scope: number
  thread: number
  parent: number | null
  hop: number
  recipients: Recipient[]
  json: string
  idempotency: { key: string; hash: string } | null
  upsert: string | null
  close: number | null
  clockStep: boolean
}

export type Job =
  | SendRow
  | WakeJob
  | (Reserved & { k: 'settle'; reader: Reader; ids: readonly number[]; reason: CloseReason })
  | (Reserved & { k: 'reopen'; reader: Reader; ids: readonly number[] })
  | { k: 'claim'; reader: Reader; ids: readonly number[]; at: number; until: number }
  | (Reserved & { k: 'open'; reader: Reader; ids: readonly number[] })
  | (Reserved & { k: 'openUpTo'; reader: Reader; from: number; upTo: number; except: readonly number[] })
  | { k: 'notified'; box: number; ids: readonly number[]; at: number }
  | {
      k: 'addSession'
      account: number
      name: string
      instance: InstanceKey
      conversation: string | null
      providerSession: string | null
      attested: string
      corroborated: string
      predecessor: number | null
      at: number
    }
  | {
      k: 'touch'
      sessions: {
        id: number
        lastSeen: number
        given: number
        opened: number
        told: number
        providerSession: string | null
        attested: string
        corroborated: string
      }[]
    }
  | { k: 'declare'; session: number; declared: Declared }
  | { k: 'endSession'; session: number; at: number }
  | { k: 'addAccount'; name: string; label: string | null; kind: string; can: string; digest: string; at: number }
  | { k: 'changeAccount'; id: number; label: string | null; kind: AccountRow['kind']; can: string; digest: string }
  | { k: 'removeAccount'; id: number; at: number }
  | { k: 'addRoom'; name: string; label: string | null; at: number }
  | { k: 'removeRoom'; id: number; at: number }
  | { k: 'join'; room: number; account: number; box: number }
  | { k: 'leave'; room: number; account: number; box: number }
  | { k: 'setListener'; account: number; url: string; key: string; coalesce: boolean; at: number }
  | { k: 'clearListener'; account: number }
  | (Reserved & { k: 'release'; session: number; account: number; from: number; to: number })
  | { k: 'setCursor'; subscriber: string; id: number }
  /** Writes when that was: whether anything can be written at all. */
  | { k: 'probe'; at: number }

export type JobOf<K extends Job['k']> = Extract<Job, { k: K }>

/** What each job answers. */
export type Results = WakeResults & {
  /** null: stored as it was asked, nothing more to tell. */
  send: (SendOutcome & { events: EventRow[] }) | null
  settle: { settled: Settled[]; events: EventRow[] }
  reopen: { settled: Settled[]; events: EventRow[] }
  claim: { settled: Settled[] }
  open: { events: EventRow[] }
  openUpTo: { events: EventRow[]; reached: number }
  notified: null
  addSession: { id: number; box: number; predecessor: number | null; given: number; opened: number; told: number }
  touch: null
  declare: null
  endSession: null
  addAccount: { id: number; box: number } | null
  changeAccount: null
  removeAccount: null
  addRoom: { id: number } | null
  removeRoom: null
  join: null
  leave: null
  setListener: null
  clearListener: null
  release: { count: number; events: EventRow[] }
  setCursor: null
  probe: null
}

/** A job that failed by itself; the others of its batch did not. */
export type Failure = { failed: string }
export type Outcome = Results[Job['k']] | Failure

/** How many sequence numbers `openUpTo` may use at once. */
export const OPEN_BATCH = 512
