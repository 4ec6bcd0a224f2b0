// One page of an inbox beside the same JSON from memory.
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { body, HTTP, holds, post } from '../http.ts'
import { SENDERS, sends, xaddsTo } from '../letters.ts'
import type { Target } from '../load.ts'
import { openMailbox } from '../peers/mailbox.ts'
import { redisAlways, staticPage } from '../peers/peers.ts'
import { accepted, command, RESP } from '../resp.ts'
import { interleave, series } from '../rounds.ts'
import { ratios } from '../stats.ts'
import { asker } from '../wire.ts'

const CONNECTIONS = [1, 16]
const WAITING = 2_000

export async function benchInbox(bench: Bench): Promise<void> {
  const mailbox = await openMailbox(join(bench.folder, 'inbox'))
  await mailbox.accounts(['reader', ...Array.from({ length: SENDERS }, (_, i) => `sender-${i}`)])
  const line = await asker(mailbox.port, HTTP)
  const send = sends((sender) => mailbox.token(`sender-${sender}`), 'reader')
  for (let i = 0; i < WAITING; i++) await line.ask(send())
  const request = post('/mail/inbox', mailbox.token('reader'), { limit: 50 })
  const page = join(bench.folder, 'page.json')
  await Bun.write(page, JSON.stringify(body(await line.ask(request))))
  line.close()

  const still = await staticPage(page)
  const redis = await redisAlways(bench.folder)
  if (redis) {
    const filling = await asker(redis.port, RESP)
    const add = xaddsTo('reader')
    for (let i = 0; i < WAITING; i++) await filling.ask(add)
    filling.close()
  } else bench.skip('inbox beside Redis XRANGE', 'redis-server is not installed')
  const range = command('XRANGE', 'reader', '-', '+', 'COUNT', 50)
  const http = { protocol: HTTP, next: () => request, good: holds('"messages":[{') }
  const targets: Target[] = [
    { name: 'mail4agent', ...mailbox, ...http },
    { name: 'static JSON', ...still, ...http },
    ...(redis ? [{ name: 'Redis XRANGE', ...redis, protocol: RESP, next: () => range, good: accepted }] : []),
  ]
  const runs = await interleave(targets, CONNECTIONS, bench.plan)
  for (const { name } of targets)
    for (const c of CONNECTIONS) {
      bench.row('inbox', `${name}, c=${c}`, 'pages/s', series(runs, name, c, 'perSecond'))
      bench.row('inbox', `${name}, c=${c}, p50`, 'us', series(runs, name, c, 'p50'))
      bench.row('inbox', `${name}, c=${c}, p99`, 'us', series(runs, name, c, 'p99'))
      bench.row('inbox', `${name}, c=${c}, CPU`, 'us/req', series(runs, name, c, 'cpuUs'))
    }
  bench.hold('inboxStatic', ratios(series(runs, 'mail4agent', 1, 'p50'), series(runs, 'static JSON', 1, 'p50')))
  bench.hold(
    'inboxRedis',
    ratios(series(runs, 'mail4agent', 16, 'perSecond'), series(runs, 'Redis XRANGE', 16, 'perSecond')),
  )
  await Promise.all([mailbox.stop(), still.stop(), redis?.stop()])
}
