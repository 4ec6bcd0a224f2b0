// Does memory grow with requests? Resident memory after 300,000 and after a million sends over 64 connections.
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { RECIPIENTS, SENDERS, sends } from '../letters.ts'
import { openMailbox } from '../peers/mailbox.ts'
import { rssMb } from '../proc.ts'
import { stream } from '../stream.ts'

const EARLY = 300_000
const LATE = 1_000_000

export async function benchLeak(bench: Bench): Promise<void> {
  if (bench.quick) return bench.skip('memory over a million sends', 'the full run has it')
  const mailbox = await openMailbox(join(bench.folder, 'leak'))
  const senders = Array.from({ length: SENDERS }, (_, i) => `sender-${i}`)
  await mailbox.accounts([...senders, ...Array.from({ length: RECIPIENTS }, (_, i) => `box-${i}`)])
  const next = sends((sender) => mailbox.token(`sender-${sender}`))
  await stream(mailbox, next, EARLY)
  const early = rssMb(mailbox.pid)
  await stream(mailbox, next, LATE - EARLY)
  const late = rssMb(mailbox.pid)
  bench.row('leak', `resident memory after ${EARLY} sends`, 'MB', [early])
  bench.row('leak', `resident memory after ${LATE} sends`, 'MB', [late])
  bench.hold('rssGrowth', [late / early])
  bench.hold('rssLoaded', [late])
  await mailbox.stop()
}
