// The writes of the store as plain data: what crosses to the writer thread, and what comes back.
import type { Declared } from '../../wire/card.ts'
import type { CloseReason } from '../../wire/letter.ts'
import type { DispatchJob, DispatchResults } from '../dispatch/jobs.ts'
import type { NewDispatch } from '../dispatch/rows.ts'
import type { ImportedLetter } from '../keeping/keeping.ts'
import type { Part } from '../keeping/scan.ts'
import type { NotifyRow } from '../notify/notify.ts'
import type { FaultRow, Why } from '../people/people.ts'
import type { AccountRow, EventRow, InstanceKey } from '../rows.ts'
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
  /** As the column has it. */
  recipients: string
  json: string
  idempotency: { key: string; hash: string } | null
  upsert: string | null
  close: number | null
  /** The message that it answers and leaves open: the sender has opened that. */
  open: number | null
  clockStep: boolean
  /** Its recipient is to be started to handle it; message and thread are put in where it is stored. */
  dispatch: NewDispatch | null
}

export type Job =
  | SendRow
  | DispatchJob
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
  | { k: 'setCursor'; subscriber: string; id: number | null }
  /** Removes conversations whose every copy was closed before `before` ms. */
  | { k: 'retain'; parts: readonly Part[]; before: number; at: number }
  | { k: 'forgetEvents'; upTo: number; limit: number }
  | {
      k: 'forgetKeys'
      keys: readonly { account: number; key: string }[]
      upserts: readonly { account: number; box: number; key: string }[]
    }
  | { k: 'import'; letters: readonly ImportRow[]; at: number }
  | { k: 'setAlias'; account: number; name: string; address: string | null }
  | { k: 'setPrivacy'; account: number; private: boolean | null; listed: readonly number[] | null }
  | { k: 'meet'; account: number; peers: readonly number[] }
  | ({ k: 'raiseFault' } & FaultRow)
  | { k: 'clearFault'; name: string }
  | { k: 'system'; at: number }
  | ({ k: 'notify' } & NotifyRow)
  /** Writes when that was: whether anything can be written at all. */
  | { k: 'probe'; at: number }

/** `step`: it is dated before the one that was stored last. */
export type ImportRow = Omit<ImportedLetter, 'fragment' | 'thread'> & {
  id: number
  random: string
  step: boolean
  thread: number
  json: string
}

export type JobOf<K extends Job['k']> = Extract<Job, { k: K }>

/** What each job answers. */
export type Results = DispatchResults &
  WakeResults & {
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
    retain: { removed: number[] }
    forgetEvents: { events: number }
    forgetKeys: null
    import: null
    setAlias: null
    setPrivacy: { known: { peer: number; why: Why }[] }
    meet: null
    raiseFault: null
    clearFault: null
    system: { account: { id: number; box: number; created: number }; session: { id: number; box: number } }
    notify: null
    probe: null
  }

/** A job that failed by itself; the others of its batch did not. */
export type Failure = { failed: string }
export type Outcome = Results[Job['k']] | Failure

/** How many sequence numbers `openUpTo` may use at once. */
export const OPEN_BATCH = 512
