// From the start of the program to its first good answer, beside Redis; both on a data folder that is there already.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { get, HTTP, holds } from '../http.ts'
import { openMailbox } from '../peers/mailbox.ts'
import { redisAlways } from '../peers/peers.ts'
import { rssMb } from '../proc.ts'
import { accepted, command, RESP } from '../resp.ts'
import { median, ratios } from '../stats.ts'
import { asker, type Protocol } from '../wire.ts'

async function answers(
  port: number,
  protocol: Protocol,
  request: Buffer,
  good: (reply: Buffer) => boolean,
): Promise<void> {
  const line = await asker(port, protocol)
  if (!good(await line.ask(request))) throw new Error('the first answer is not a good one')
  line.close()
}

export async function benchBoot(bench: Bench): Promise<void> {
  const ours: number[] = []
  const theirs: number[] = []
  const idle: number[] = []
  const mailbox = await openMailbox(join(bench.folder, 'boot'))
  await mailbox.stop()
  mkdirSync(join(bench.folder, 'boot-redis'))
  for (let i = 0; i < (bench.quick ? 5 : 9); i++) {
    let start = performance.now()
    await mailbox.start()
    await answers(mailbox.port, HTTP, get('/health'), holds('{'))
    ours.push(performance.now() - start)
    await Bun.sleep(300)
    idle.push(rssMb(mailbox.pid))
    await mailbox.stop()
    start = performance.now()
    const redis = await redisAlways(join(bench.folder, 'boot-redis'))
    if (!redis) continue
    await answers(redis.port, RESP, command('PING'), accepted)
    theirs.push(performance.now() - start)
    await redis.stop()
  }
  bench.row('start', 'mail4agent, to the first /health', 'ms', ours)
  bench.row('start', 'mail4agent, resident memory idle', 'MB', idle)
  if (theirs.length === 0) bench.skip('start beside Redis', 'redis-server is not installed')
  else bench.row('start', 'Redis, to the first PING', 'ms', theirs)
  bench.hold('rssIdle', [median(idle)])
  bench.hold('bootRedis', ratios(ours, theirs))
}
