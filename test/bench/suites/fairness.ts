// What one account that floods costs another: its sends, and its waits, beside the same with nobody flooding.
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { body, HTTP, post } from '../http.ts'
import { BODY, SUBJECT } from '../letters.ts'
import { type Mailbox, openMailbox } from '../peers/mailbox.ts'
import { bareDoor, type Flood, flood } from '../peers/peers.ts'
import { quantile, ratios } from '../stats.ts'
import { messageCount } from '../storage.ts'
import { type Asker, asker } from '../wire.ts'

const FLOODS = 64
/** Time for a flood to be in full swing, and to ebb. */
const SETTLE_MS = 300

type Figures = { send: number[]; wait: number[] }

export async function benchFairness(bench: Bench): Promise<void> {
  const mailbox = await openMailbox(join(bench.folder, 'fairness'))
  await mailbox.accounts(['flooder', 'drain', 'sender', 'box', 'sleeper'])
  const victim = await openVictim(mailbox)
  const letter = { to: 'drain', subject: SUBJECT, body: BODY }
  const elsewhere = await bareDoor()
  const sends = post('/mail/send', mailbox.token('flooder'), letter)
  const reads = post('/mail/unread', mailbox.token('flooder'), {})
  const floods: [string, Flood | null][] = [
    ['nobody floods', null],
    // the same load beside the mailbox: what the machine itself costs, which no fairness gives back
    ['another program is flooded', await flood(elsewhere.port, FLOODS, sends)],
    ['an account floods with sends', await flood(mailbox.port, FLOODS, sends)],
    ['an account floods with reads', await flood(mailbox.port, FLOODS, reads)],
  ]
  const figures = new Map(floods.map(([name]) => [name, { send: [], wait: [] } as Figures]))
  for (let round = 0; round <= bench.plan.rounds; round++)
    for (const [name, one] of round % 2 ? floods.toReversed() : floods) {
      one?.go()
      await Bun.sleep(SETTLE_MS)
      const into = round === 0 ? { send: [], wait: [] } : figures.get(name)
      into?.send.push(await victim.send(bench.plan.ms))
      into?.wait.push(await victim.wait(bench.plan.ms))
      one?.halt()
      await Bun.sleep(SETTLE_MS)
    }
  for (const [name, { send, wait }] of figures) {
    bench.row('fairness', `a send of another, ${name}, p50`, 'us', send)
    bench.row('fairness', `a wake of another, ${name}, p50`, 'us', wait)
  }
  const of = (name: string): Figures => figures.get(name) ?? { send: [], wait: [] }
  const [quiet, sent, read] = [
    of('nobody floods'),
    of('an account floods with sends'),
    of('an account floods with reads'),
  ]
  bench.hold('fairSend', [...ratios(sent.send, quiet.send), ...ratios(read.send, quiet.send)])
  bench.hold('fairWait', [...ratios(sent.wait, quiet.wait), ...ratios(read.wait, quiet.wait)])
  const stored = messageCount(mailbox.dataDir)
  bench.honest('the account that floods gets its sends done', stored > 2_000, `${stored} letters are stored`)
  for (const [, one] of floods) await one?.stop()
  victim.close()
  await Promise.all([mailbox.stop(), elsewhere.stop()])
}

type Victim = {
  /** Sends one after another for `ms`; median microseconds. */
  send(ms: number): Promise<number>
  /** Parks a reader and wakes it, for `ms`; median microseconds from the send to the reader's answer. */
  wait(ms: number): Promise<number>
  close(): void
}

async function openVictim({ port, token }: Mailbox): Promise<Victim> {
  const line: Asker = await asker(port, HTTP)
  const reader: Asker = await asker(port, HTTP)
  const letter = (to: string) => post('/mail/send', token('sender'), { to, subject: SUBJECT, body: BODY })
  const waiting = (cursor?: string) =>
    post('/mail/inbox', token('sleeper'), { wait_secs: 60, limit: 1, ...(cursor ? { cursor } : {}) })
  let cursor: string | undefined
  return {
    async send(ms) {
      const took: number[] = []
      const request = letter('box')
      for (const end = performance.now() + ms; performance.now() < end; ) {
        const start = performance.now()
        body(await line.ask(request))
        took.push((performance.now() - start) * 1000)
      }
      return quantile(took, 0.5)
    },
    async wait(ms) {
      const took: number[] = []
      const request = letter('sleeper')
      for (const end = performance.now() + ms; performance.now() < end; ) {
        const answer = reader.ask(waiting(cursor))
        await Bun.sleep(3)
        const start = performance.now()
        const [reply] = await Promise.all([
          answer.then((reply) => {
            took.push((performance.now() - start) * 1000)
            return reply
          }),
          line.ask(request).then(body),
        ])
        cursor = body<{ cursor: string }>(reply).cursor
      }
      return quantile(took, 0.5)
    },
    close() {
      line.close()
      reader.close()
    },
  }
}
