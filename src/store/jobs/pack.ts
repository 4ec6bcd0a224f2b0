// Jobs as they cross to the writer thread: sends as a run of primitives, the rest as they are.
// A structured clone of flat values costs a third of one of objects (measured at 64 jobs a batch: 1.2 against 3.2 µs a job).
import type { NewDispatch } from '../dispatch/rows.ts'
import type { Job, SendRow } from './job.ts'

type Packed = (number | string | boolean | null | Exclude<Job, SendRow>)[]

/** Values of one send, after the marker. */
const SEND = 'send'
const WIDTH = 21

export function pack(jobs: readonly Job[]): Packed {
  const out: Packed = []
  for (const job of jobs) {
    if (job.k !== 'send') {
      out.push(job)
      continue
    }
    const { reader, idempotency } = job
    out.push(
      SEND,
      job.id,
      job.random,
      job.at,
      job.events,
      job.clockStep,
      reader.account,
      reader.accountBox,
      reader.session,
      reader.sessionBox,
      job.scope,
      job.thread,
      job.parent,
      job.hop,
      job.recipients,
      job.json,
      idempotency?.key ?? null,
      idempotency?.hash ?? null,
      job.upsert,
      job.close,
      job.open,
      job.dispatch && JSON.stringify(job.dispatch),
    )
  }
  return out
}

/** What `pack` made, as jobs again. */
export function unpack(packed: Packed): Job[] {
  const jobs: Job[] = []
  for (let at = 0; at < packed.length; at++) {
    const one = packed[at]
    if (one !== SEND) {
      jobs.push(one as Exclude<Job, SendRow>)
      continue
    }
    jobs.push(sendRow(packed, at + 1))
    at += WIDTH
  }
  return jobs
}

/** The order is that of `pack`; the types are what it put there. */
function sendRow(packed: Packed, from: number): SendRow {
  const number = (offset: number) => packed[from + offset] as number
  const text = (offset: number) => packed[from + offset] as string
  const textOrNull = (offset: number) => packed[from + offset] as string | null
  const numberOrNull = (offset: number) => packed[from + offset] as number | null
  const key = textOrNull(15)
  const dispatch = textOrNull(20)
  return {
    k: 'send',
    id: number(0),
    random: text(1),
    at: number(2),
    events: number(3),
    clockStep: packed[from + 4] as boolean,
    reader: { account: number(5), accountBox: number(6), session: number(7), sessionBox: number(8) },
    scope: number(9),
    thread: number(10),
    parent: numberOrNull(11),
    hop: number(12),
    recipients: text(13),
    json: text(14),
    idempotency: key === null ? null : { key, hash: text(16) },
    upsert: textOrNull(17),
    close: numberOrNull(18),
    open: numberOrNull(19),
    dispatch: dispatch === null ? null : (JSON.parse(dispatch) as NewDispatch),
  }
}
