// The rows that cross the store's border: accounts, rooms, sessions, messages, deliveries. Times are milliseconds since the epoch.
import type { Attested, Corroborated, Declared } from '../wire/card.ts'
import type { CloseReason } from '../wire/letter.ts'
import type { Capability } from '../wire/operations.ts'
import type { Cause, Outcome } from './dispatch/rows.ts'

export type AccountRow = {
  readonly id: number
  readonly name: string
  readonly label: string | null
  /** `remote`: an account of another machine, `name@machine`; nobody calls as one. */
  readonly kind: 'agent' | 'person' | 'remote'
  /** `chat` came later: accounts of before have none. */
  readonly can: Readonly<Record<Exclude<Capability, 'chat'>, boolean> & { chat?: boolean }>
  /** SHA-256 of the secret, hex; leaves the store only to be compared. */
  readonly digest: string
  /** The mailbox that all sessions of the account share. */
  readonly box: number
  readonly created: number
}

/** May nothing: what an account begins with, and all that one has which nobody calls as. */
export const NO_RIGHTS: AccountRow['can'] = {
  send: false,
  read: false,
  dispatch: false,
  behalf: false,
  operator: false,
}

export type RoomRow = {
  readonly id: number
  readonly name: string
  readonly label: string | null
  readonly created: number
}

/** The process instance behind a session: what `attest/` calls an Instance, with where it was seen. */
export type InstanceKey = { boot: string; pidns: string; pid: number; start: string; pidfd: string | null }

export type SessionRow = {
  readonly id: number
  readonly account: number
  /** `s-` + 32 hex. */
  readonly name: string
  /** The session's own mailbox; a successor takes over its predecessor's. */
  readonly box: number
  readonly instance: InstanceKey
  readonly conversation: string | null
  attested: Attested
  corroborated: Corroborated
  declared: Declared
  readonly firstSeen: number
  lastSeen: number
  ended: number | null
  successor: number | null
  /** Sequence up to which this session was given its mail, and up to which its cursor has passed. */
  given: number
  opened: number
  /** Sequence up to which a notice has told this session of its mail. */
  told: number
}

export type ListenerRow = { account: number; url: string; key: string; coalesce: boolean; created: number }

/** Delivery kinds. */
export const KIND = { account: 0, session: 1, room: 2 } as const
export type Kind = (typeof KIND)[keyof typeof KIND]

/** An immutable message as stored. `json` is a ready JSON fragment: the members of a wire Message that never change, without braces. */
export type MessageRow = {
  id: number
  random: string
  account: number
  /** Box of the session that sent it. */
  senderBox: number
  /** 0: every session of the sending account may read it as sent mail; else only the session with this box. */
  scope: number
  thread: number
  parent: number | null
  created: number
  hop: number
  /** One entry per delivery, in order. */
  recipients: Recipient[]
  json: string
}

/** `text`: the compact address it was sent to; `box`: where that delivery lies (an account's or a session's). */
export type Recipient = { text: string; kind: Kind; box: number; account: number; room: number }

/** One copy in one box. `closed`: 0 not closed, 1 closed, 2 hidden because the account left the room. */
export type DeliveryRow = {
  box: number
  closed: 0 | 1 | 2
  id: number
  kind: Kind
  room: number
  notified: number | null
  opened: number | null
  /** Session row ids. */
  openedBy: number | null
  closedAt: number | null
  closedBy: number | null
  reason: CloseReason | null
  updates: number
}

/** A delivery with its message, as pages need it. */
export type PageRow = DeliveryRow & { json: string; senderBox: number; created: number }

export type Claim = { box: number; id: number; session: number; until: number }

/** Events share the sequence of messages; a send's event is its message row. */
export type MailEventKind = 'sent' | 'opened' | 'closed' | 'reopened' | 'released'
/** `dispatch_started` and `dispatch_attempt_ended` for each attempt; one of the last two once. */
export type DispatchEventKind =
  | 'dispatch_queued'
  | 'dispatch_started'
  | 'dispatch_attempt_ended'
  | 'dispatch_done'
  | 'dispatch_failed'
export type EventKind = MailEventKind | DispatchEventKind
type Happened = { id: number; at: number; message: number; account: number; session: number | null }
export type MailEventRow = Happened & { kind: MailEventKind; reason: CloseReason | null; dispatch: null; attempt: null }
/** `message` is 0 without a letter, `account` the agent, `reason` the cause of an attempt's end or the outcome. */
export type DispatchEventRow = Happened & {
  kind: DispatchEventKind
  reason: Cause | Outcome | null
  dispatch: number
  attempt: number | null
}
export type EventRow = MailEventRow | DispatchEventRow
