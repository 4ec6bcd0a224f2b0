// Consuming: 16 readers take pages of 50 and acknowledge each durably until nothing is left, beside a Redis consumer group.
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { body, HTTP, post } from '../http.ts'
import { BODY, SENDERS, SUBJECT, turns } from '../letters.ts'
import { openMailbox } from '../peers/mailbox.ts'
import { claudePeers, redisAlways } from '../peers/peers.ts'
import { accepted, command, RESP } from '../resp.ts'
import { ratios } from '../stats.ts'
import { stream } from '../stream.ts'
import { asker } from '../wire.ts'

const READERS = 16
const PAGE = 50
const LETTERS = 500
const QUICK_LETTERS = 150

type Consumed = { fill(): Promise<void>; consume(reader: number): Promise<number>; stop(): Promise<void> }

export async function benchCycle(bench: Bench): Promise<void> {
  const letters = bench.quick ? QUICK_LETTERS : LETTERS
  const all: [string, Consumed | null][] = [
    ['mail4agent', await ours(bench, letters)],
    ['Redis always', await redis(bench, letters)],
    ['claude-peers', await peers(bench, letters)],
  ]
  const rates = new Map<string, number[]>(all.map(([name]) => [name, []]))
  for (let round = 0; round < bench.plan.rounds; round++)
    for (const [name, consumed] of round % 2 ? all.toReversed() : all) {
      if (!consumed) continue
      await consumed.fill()
      const start = performance.now()
      const counts = await Promise.all(Array.from({ length: READERS }, (_, reader) => consumed.consume(reader)))
      const seconds = (performance.now() - start) / 1000
      const total = counts.reduce((sum, count) => sum + count, 0)
      if (total !== READERS * letters) throw new Error(`${name}: consumed ${total} of ${READERS * letters}`)
      rates.get(name)?.push(total / seconds)
    }
  const rate = (name: string) => rates.get(name) ?? []
  for (const [name, consumed] of all)
    if (consumed) bench.row('cycle', `${name}, ${READERS} readers`, 'messages/s', rate(name))
  bench.hold('cycleRedis', ratios(rate('mail4agent'), rate('Redis always')))
  bench.hold('cyclePeers', ratios(rate('mail4agent'), rate('claude-peers')))
  bench.skip('consume cycle beside NATS', 'its pull consumers need a client library, and none is installed')
  for (const [, consumed] of all) await consumed?.stop()
}

async function ours(bench: Bench, letters: number): Promise<Consumed> {
  const mailbox = await openMailbox(join(bench.folder, 'cycle'))
  const senders = Array.from({ length: SENDERS }, (_, i) => `sender-${i}`)
  await mailbox.accounts([...senders, ...Array.from({ length: READERS }, (_, i) => `reader-${i}`)])
  // kept connections, as with Redis: the first call of one is measured by itself elsewhere
  const lines = await Promise.all(Array.from({ length: READERS }, () => asker(mailbox.port, HTTP)))
  // 512 ready letters go round the 16 readers evenly
  const ready = turns((i) =>
    post('/mail/send', mailbox.token(`sender-${i % SENDERS}`), {
      to: `reader-${i % READERS}`,
      subject: SUBJECT,
      body: BODY,
    }),
  )
  return {
    async fill() {
      await stream(mailbox, ready, READERS * letters)
      for (const [reader, line] of lines.entries())
        body(await line.ask(post('/mail/unread', mailbox.token(`reader-${reader}`), {})))
    },
    async consume(reader) {
      const token = mailbox.token(`reader-${reader}`)
      const page = post('/mail/inbox', token, { limit: PAGE })
      const line = lines[reader]
      if (!line) throw new Error('no such reader')
      let count = 0
      for (;;) {
        const { messages } = body<{ messages: { message_id: string }[] }>(await line.ask(page))
        if (messages.length === 0) break
        const acked = await line.ask(
          post('/mail/ack', token, { message_ids: messages.map(({ message_id }) => message_id) }),
        )
        count += body<{ results: { ok: boolean }[] }>(acked).results.filter(({ ok }) => ok).length
      }
      return count
    },
    async stop() {
      for (const line of lines) line.close()
      await mailbox.stop()
    },
  }
}

async function redis(bench: Bench, letters: number): Promise<Consumed | null> {
  const server = await redisAlways(bench.folder)
  if (!server) {
    bench.skip('consume cycle beside Redis', 'redis-server is not installed')
    return null
  }
  const each = (work: (reader: number) => Promise<unknown>) =>
    Promise.all(Array.from({ length: READERS }, (_, reader) => work(reader)))
  await each(async (reader) => {
    const line = await asker(server.port, RESP)
    await line.ask(command('XGROUP', 'CREATE', `box:${reader}`, 'group', '0', 'MKSTREAM'))
    line.close()
  })
  return {
    async fill() {
      await each(async (reader) => {
        const line = await asker(server.port, RESP)
        const letter = command('XADD', `box:${reader}`, '*', 'from', 'sender', 'subject', SUBJECT, 'body', BODY)
        for (let i = 0; i < letters; i++)
          if (!accepted(await line.ask(letter))) throw new Error('Redis refused a letter')
        line.close()
      })
    },
    async consume(reader) {
      const line = await asker(server.port, RESP)
      const page = command('XREADGROUP', 'GROUP', 'group', 'one', 'COUNT', PAGE, 'STREAMS', `box:${reader}`, '>')
      let count = 0
      for (;;) {
        const ids = (await line.ask(page)).toString().match(/\b[0-9]{13}-[0-9]+\b/g)
        if (!ids) break
        count += Number((await line.ask(command('XACK', `box:${reader}`, 'group', ...ids))).toString().slice(1))
      }
      line.close()
      return count
    },
    stop: () => server.stop(),
  }
}

async function peers(bench: Bench, letters: number): Promise<Consumed | null> {
  const broker = await claudePeers(bench.folder, bench.peers, READERS)
  if (!broker) {
    bench.skip('consume cycle beside claude-peers', 'no checkout was given with --claude-peers')
    return null
  }
  const ask = async (path: string, request: object): Promise<{ ok?: boolean; messages?: unknown[] }> => {
    const answer = await fetch(`http://127.0.0.1:${broker.port}${path}`, {
      method: 'POST',
      body: JSON.stringify(request),
    })
    return (await answer.json()) as { ok?: boolean; messages?: unknown[] }
  }
  return {
    async fill() {
      for (const to_id of broker.ids)
        for (let i = 0; i < letters; i++) {
          const { ok } = await ask('/send-message', { from_id: broker.ids[0], to_id, text: BODY })
          if (ok !== true) throw new Error('claude-peers refused a letter')
        }
    },
    consume: async (reader) => (await ask('/poll-messages', { id: broker.ids[reader] })).messages?.length ?? 0,
    stop: () => broker.stop(),
  }
}
