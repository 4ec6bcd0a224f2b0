// Does cost grow with history? The same calls on a mailbox with 1,000 messages and on a large one, side by side.
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import type { GateName } from '../gates.ts'
import { HTTP, holds, post } from '../http.ts'
import { SENDERS, sends } from '../letters.ts'
import type { Target } from '../load.ts'
import { type Mailbox, openMailbox } from '../peers/mailbox.ts'
import { interleave, series } from '../rounds.ts'
import { ratios } from '../stats.ts'
import { stream } from '../stream.ts'
import { asker } from '../wire.ts'

const SMALL = 1_000
const LARGE = 1_000_000
const LARGE_QUICK = 50_000

export async function benchGrowth(bench: Bench): Promise<void> {
  const large = bench.quick ? LARGE_QUICK : LARGE
  const boxes: [string, Mailbox][] = []
  for (const size of [SMALL, large]) {
    const mailbox = await openMailbox(join(bench.folder, `growth-${size}`))
    await mailbox.accounts(['reader', ...Array.from({ length: SENDERS }, (_, i) => `sender-${i}`)])
    const rate = await fill(mailbox, size)
    if (size === large) bench.row('growth', `filling a mailbox with ${size}`, '/s', [rate])
    boxes.push([`${size} messages`, mailbox])
  }

  const calls: [string, GateName, string, (mailbox: Mailbox) => () => Buffer][] = [
    ['inbox', 'growthInbox', '"messages":[{', (mailbox) => asReader(mailbox, '/mail/inbox', { limit: 50 })],
    ['unread', 'growthUnread', '"unread":', (mailbox) => asReader(mailbox, '/mail/unread', {})],
    [
      'search',
      'growthSearch',
      '"messages":[{',
      (mailbox) => asReader(mailbox, '/mail/search', { query: 'merge', limit: 50 }),
    ],
    ['send', 'growthSend', '"message_id":"m4a_', (mailbox) => sends((i) => mailbox.token(`sender-${i}`), 'reader')],
  ]
  for (const [call, gate, proof, next] of calls) {
    const targets: Target[] = boxes.map(([name, mailbox]) => ({
      name,
      ...mailbox,
      protocol: HTTP,
      next: next(mailbox),
      good: holds(proof),
    }))
    const runs = await interleave(targets, [1], { ...bench.plan, ms: bench.plan.ms / 2 })
    const p50 = targets.map(({ name }) => series(runs, name, 1, 'p50'))
    for (const [index, { name }] of targets.entries())
      bench.row('growth', `${call}, ${name}, p50`, 'us', p50[index] ?? [])
    bench.hold(gate, ratios(p50[1] ?? [], p50[0] ?? []))
  }
  await Promise.all(boxes.map(([, mailbox]) => mailbox.stop()))
}

function asReader(mailbox: Mailbox, path: string, request: object): () => Buffer {
  const ready = post(path, mailbox.token('reader'), request)
  return () => ready
}

/** Sends `count` messages to the reader over 64 connections and waits until they are found by a search; returns sends per second. */
async function fill(mailbox: Mailbox, count: number): Promise<number> {
  const next = sends((i) => mailbox.token(`sender-${i}`), 'reader')
  const rate = await stream(mailbox, next, count)
  const line = await asker(mailbox.port, HTTP)
  await line.ask(asReader(mailbox, '/mail/search', { query: 'merge', limit: 1 })())
  line.close()
  return rate
}
