// From the start of a send to the answer in a parked reader, with 1 to 5,000 readers parked; beside Redis XREAD BLOCK.
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { openMailbox } from '../peers/mailbox.ts'
import { redisAlways } from '../peers/peers.ts'
import { rssMb } from '../proc.ts'
import { quantile, ratios } from '../stats.ts'
import { mailboxSleepers, redisSleepers, type Sleepers } from './sleepers.ts'

const PARKED = [1, 100, 1_000, 5_000]
/** Time for the reader to be parked again. */
const SETTLE_MS = 3

type Figures = { wake50: number[]; wake99: number[]; reply50: number[] }

export async function benchWake(bench: Bench): Promise<void> {
  const mailbox = await openMailbox(join(bench.folder, 'wake'))
  const redis = await redisAlways(bench.folder)
  if (!redis) bench.skip('wake beside Redis', 'redis-server is not installed')
  const ours = await mailboxSleepers(mailbox)
  const theirs = redis ? await redisSleepers(redis.port) : null
  const all = [ours, ...(theirs ? [theirs] : [])]

  const byCount = new Map<number, Map<Sleepers, Figures>>()
  for (const count of PARKED) {
    // a fresh crowd: a wait lasts a minute at most, and none may end while something is measured
    for (const sleepers of all) sleepers.release()
    for (const sleepers of all) await sleepers.park(count)
    const parked = await ours.parked()
    bench.honest(`${count} readers are parked`, parked === count - 1, `${parked} and the one that is measured`)
    const figures = new Map(all.map((one) => [one, { wake50: [], wake99: [], reply50: [] } as Figures]))
    byCount.set(count, figures)
    for (let round = 0; round < bench.plan.rounds; round++)
      for (const sleepers of round % 2 ? all.toReversed() : all)
        await measure(sleepers, bench.quick ? 150 : 400, figures.get(sleepers))
    for (const [{ name }, { wake50, wake99, reply50 }] of figures) {
      bench.row('wake', `${name}, ${count} parked, p50`, 'us', wake50)
      bench.row('wake', `${name}, ${count} parked, p99`, 'us', wake99)
      bench.row('wake', `${name}, ${count} parked, the send's own reply p50`, 'us', reply50)
    }
    bench.row('wake', `mail4agent, ${count} parked, resident memory`, 'MB', [rssMb(mailbox.pid)])
  }

  const of = (count: number, sleepers: Sleepers | null): Figures =>
    (sleepers && byCount.get(count)?.get(sleepers)) ?? { wake50: [], wake99: [], reply50: [] }
  bench.hold('wakeRedis', ratios(of(1, ours).wake50, of(1, theirs).wake50))
  bench.hold('wakeParked', ratios(of(5_000, ours).wake99, of(1, ours).wake99))
  bench.hold('wakeReply', ratios(of(1, ours).wake50, of(1, ours).reply50))
  for (const sleepers of all) sleepers.release()
  bench.row('wake', 'mail4agent, one send to 1,000 readers, the last one', 'us', await ours.choir(1_000))
  for (const sleepers of all) sleepers.close()
  await Promise.all([mailbox.stop(), redis?.stop()])
}

async function measure(sleepers: Sleepers, samples: number, into: Figures | undefined): Promise<void> {
  const wakes: number[] = []
  const replies: number[] = []
  for (let i = 0; i < samples; i++) {
    const woken = sleepers.sleep()
    await Bun.sleep(SETTLE_MS)
    const start = performance.now()
    const since = () => (performance.now() - start) * 1000
    const [wake, reply] = await Promise.all([woken.then(since), sleepers.send().then(since)])
    wakes.push(wake)
    replies.push(reply)
  }
  into?.wake50.push(quantile(wakes, 0.5))
  into?.wake99.push(quantile(wakes, 0.99))
  into?.reply50.push(quantile(replies, 0.5))
}
