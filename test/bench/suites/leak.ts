// Does memory grow with requests? Resident memory after 300,000 and after a million sends over 64 connections; a quick run has a tenth.
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { RECIPIENTS, SENDERS, sends } from '../letters.ts'
import { openMailbox } from '../peers/mailbox.ts'
import { rssMb } from '../proc.ts'
import { stream } from '../stream.ts'

const EARLY = 300_000
const LATE = 1_000_000
const QUICK_PART = 10

export async function benchLeak(bench: Bench): Promise<void> {
  const mailbox = await openMailbox(join(bench.folder, 'leak'))
  const senders = Array.from({ length: SENDERS }, (_, i) => `sender-${i}`)
  await mailbox.accounts([...senders, ...Array.from({ length: RECIPIENTS }, (_, i) => `box-${i}`)])
  const next = sends((sender) => mailbox.token(`sender-${sender}`))
  const part = bench.quick ? QUICK_PART : 1
  await stream(mailbox, next, EARLY / part)
  const early = rssMb(mailbox.pid)
  await stream(mailbox, next, (LATE - EARLY) / part)
  const late = rssMb(mailbox.pid)
  bench.row('leak', `resident memory after ${EARLY / part} sends`, 'MB', [early])
  bench.row('leak', `resident memory after ${LATE / part} sends`, 'MB', [late])
  bench.hold('rssGrowth', [late / early])
  if (!bench.quick) bench.hold('rssLoaded', [late])
  await mailbox.stop()
}
