// Does writing disturb reading? The p99 of inbox pages for one reader, alone and while 16 connections send.
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { HTTP, holds, post } from '../http.ts'
import { RECIPIENTS, SENDERS, sends } from '../letters.ts'
import { load, type Target } from '../load.ts'
import { openMailbox } from '../peers/mailbox.ts'
import { ratios } from '../stats.ts'
import { asker } from '../wire.ts'

const WAITING = 2_000

export async function benchMixed(bench: Bench): Promise<void> {
  const mailbox = await openMailbox(join(bench.folder, 'mixed'))
  const senders = Array.from({ length: SENDERS }, (_, i) => `sender-${i}`)
  await mailbox.accounts(['reader', ...senders, ...Array.from({ length: RECIPIENTS }, (_, i) => `box-${i}`)])
  const token = (sender: number) => mailbox.token(`sender-${sender}`)
  const line = await asker(mailbox.port, HTTP)
  const fill = sends(token, 'reader')
  for (let i = 0; i < WAITING; i++) await line.ask(fill())
  line.close()

  const page = post('/mail/inbox', mailbox.token('reader'), { limit: 50 })
  const reader: Target = { name: 'inbox', ...mailbox, protocol: HTTP, next: () => page, good: holds('"messages":[{') }
  const sender: Target = {
    name: 'send',
    ...mailbox,
    protocol: HTTP,
    next: sends(token),
    good: holds('"message_id":"m4a_'),
  }
  const alone: number[] = []
  const beside: number[] = []
  const rates: number[] = []
  for (let round = 0; round < bench.plan.rounds; round++) {
    const inTurn = [
      async () => {
        alone.push((await load(reader, 1, bench.plan.ms)).p99)
      },
      async () => {
        const [read, sent] = await Promise.all([load(reader, 1, bench.plan.ms), load(sender, 16, bench.plan.ms)])
        if (read.bad + sent.bad > 0) throw new Error(`mixed: ${read.bad + sent.bad} replies were refusals`)
        beside.push(read.p99)
        rates.push(sent.perSecond)
      },
    ]
    for (const step of round % 2 ? inTurn.toReversed() : inTurn) await step()
  }
  bench.row('mixed', 'inbox p99, 1 reader alone', 'us', alone)
  bench.row('mixed', 'inbox p99, beside 16 senders', 'us', beside)
  bench.row('mixed', 'sends beside the reader', '/s', rates)
  bench.hold('mixedInbox', ratios(beside, alone))
  await mailbox.stop()
}
