// What can happen in a history: steps as plain numbers, so that fast-check can make and shrink them.
import fc from 'fast-check'
import { DOORS, type DoorName } from '../e2e/support/actor.ts'
import type { Listing } from './listing.ts'

/** Numbers choose among what there is at that moment, so that a step makes sense whatever was left out before it. */
export type CallStep = { who: number; door: DoorName } & (
  | { do: 'send'; to: number[]; key: number; upsert: number; other: boolean }
  | { do: 'reply'; letter: number; to: number[]; close: boolean; key: number }
  | { do: 'ack' | 'reopen'; letters: number[] }
  | { do: 'claim'; letters: number[]; seconds: 0 | 600 | 3_000 }
  | { do: 'get'; letter: number; peek: boolean }
  | { do: 'inbox'; state: Listing['state']; limit: number; cursor: number; brief: boolean; wait: boolean }
  | { do: 'receipts' | 'thread'; letter: number }
  | { do: 'unread' | 'sent' }
)

export type Step =
  | CallStep
  | { do: 'together'; calls: CallStep[] }
  | { do: 'crash'; calls: CallStep[]; after: number; signal: 'SIGKILL' | 'SIGTERM' }
  | { do: 'begin'; account: number }
  | { do: 'end'; who: number }
  | { do: 'resume'; account: number }
  | { do: 'member'; room: number; account: number }
  | { do: 'allow'; account: number; send: boolean; read: boolean }
  | { do: 'release'; who: number }
  | { do: 'clock'; hours: number }

const index = fc.nat({ max: 60 })
const some = fc.array(index, { minLength: 1, maxLength: 3 })
/** 0 is none. */
const rarely = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 }) },
)
const just = <T extends string>(value: T) => fc.constant(value)
/** The command line is a process for each call: it comes less often. */
const door = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...DOORS.filter((one) => one !== 'cli')) },
  { weight: 1, arbitrary: just('cli') },
)
const by = { who: index, door }
const letter = index
const state = fc.constantFrom('open', 'open', 'open', 'new', 'opened', 'closed', 'all')

const send = fc.record({ ...by, do: just('send'), to: some, key: rarely, upsert: rarely, other: fc.boolean() })
const reply = fc.record({
  ...by,
  do: just('reply'),
  letter,
  to: fc.oneof(fc.constant<number[]>([]), some),
  close: fc.boolean(),
  key: rarely,
})
const settle = fc.record({ ...by, do: fc.constantFrom('ack', 'ack', 'reopen'), letters: some })
const claim = fc.record({ ...by, do: just('claim'), letters: some, seconds: fc.constantFrom(0, 600, 3_000) })
const get = fc.record({ ...by, do: just('get'), letter, peek: fc.boolean() })
const seldom = fc.integer({ min: 0, max: 11 }).map((at) => at === 0)
const inbox = fc.record({
  ...by,
  do: just('inbox'),
  state,
  limit: fc.integer({ min: 1, max: 6 }),
  cursor: fc.oneof(fc.constant(-1), index),
  brief: seldom,
  wait: seldom,
})
const look = fc.record({ ...by, do: fc.constantFrom('receipts', 'thread'), letter })
const count = fc.record({ ...by, do: fc.constantFrom('unread', 'sent') })

const call: fc.Arbitrary<CallStep> = fc.oneof(
  { weight: 7, arbitrary: send },
  { weight: 5, arbitrary: reply },
  { weight: 5, arbitrary: settle },
  { weight: 3, arbitrary: claim },
  { weight: 3, arbitrary: get },
  { weight: 6, arbitrary: inbox },
  { weight: 2, arbitrary: look },
  { weight: 1, arbitrary: count },
)

/** Those that write, and go together best on few letters. */
const write: fc.Arbitrary<CallStep> = fc
  .oneof(
    { weight: 2, arbitrary: send },
    { weight: 3, arbitrary: reply },
    { weight: 4, arbitrary: settle },
    { weight: 3, arbitrary: claim },
    { weight: 1, arbitrary: get },
    { weight: 1, arbitrary: inbox },
  )
  .map((step) => ({ ...step, door: step.door === 'cli' ? ('socket' as const) : step.door }))
const close = fc.array(write, { minLength: 2, maxLength: 4 })

export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 30, arbitrary: call },
  { weight: 3, arbitrary: fc.record({ do: just('together'), calls: close }) },
  { weight: 1, arbitrary: fc.record({ do: just('begin'), account: index }) },
  { weight: 1, arbitrary: fc.record({ do: just('end'), who: index }) },
  { weight: 1, arbitrary: fc.record({ do: just('resume'), account: index }) },
  { weight: 2, arbitrary: fc.record({ do: just('member'), room: index, account: index }) },
  { weight: 1, arbitrary: fc.record({ do: just('release'), who: index }) },
  { weight: 1, arbitrary: fc.record({ do: just('clock'), hours: fc.constantFrom(-30, -2, -1, 1, 2, 26) }) },
)

/** Beside all that: the mailbox stops or is killed in the middle of calls, and rights are taken away. */
export const hardStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 40, arbitrary: step },
  {
    weight: 1,
    arbitrary: fc.record({
      do: just('crash'),
      calls: fc.array(write, { maxLength: 3 }),
      after: fc.integer({ min: 0, max: 6 }),
      signal: fc.constantFrom('SIGKILL', 'SIGKILL', 'SIGTERM'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: just('allow'), account: index, send: fc.boolean(), read: fc.boolean() }),
  },
)

/** What only steps that run side by side can show. */
export const sideBySide: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: just('together'), calls: close }) },
  { weight: 1, arbitrary: send },
  { weight: 1, arbitrary: inbox },
)
