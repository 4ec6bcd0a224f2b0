// What it costs to know who calls: beside the bare door, and on the first call of a connection beside its later ones.
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { HTTP, holds, post } from '../http.ts'
import type { Target } from '../load.ts'
import { openMailbox } from '../peers/mailbox.ts'
import { bareDoor } from '../peers/peers.ts'
import { interleave, series } from '../rounds.ts'
import { quantile } from '../stats.ts'
import { asker } from '../wire.ts'

const CONNECTIONS = [1, 16]

export async function benchAttest(bench: Bench): Promise<void> {
  const mailbox = await openMailbox(join(bench.folder, 'attest'))
  await mailbox.accounts(['caller'])
  const door = await bareDoor()
  const request = post('/mail/whoami', mailbox.token('caller'), {})
  const http = { protocol: HTTP, next: () => request, good: holds('"address":{') }
  const targets: Target[] = [
    { name: 'mail4agent', ...mailbox, ...http },
    { name: 'bare door', ...door, ...http },
  ]
  const runs = await interleave(targets, CONNECTIONS, bench.plan)
  for (const { name } of targets)
    for (const c of CONNECTIONS) {
      bench.row('whoami', `${name}, c=${c}, p50`, 'us', series(runs, name, c, 'p50'))
      bench.row('whoami', `${name}, c=${c}, CPU`, 'us/req', series(runs, name, c, 'cpuUs'))
    }
  const calls = bench.quick ? 100 : 400
  for (const { name, port } of targets) {
    const first: number[] = []
    const later: number[] = []
    for (let i = 0; i < calls; i++) {
      const line = await asker(port, HTTP)
      for (const took of [first, later]) {
        const start = performance.now()
        await line.ask(request)
        took.push((performance.now() - start) * 1000)
      }
      line.close()
    }
    bench.row('connection', `${name}, first call p50`, 'us', [quantile(first, 0.5)])
    bench.row('connection', `${name}, first call p99`, 'us', [quantile(first, 0.99)])
    bench.row('connection', `${name}, later call p50`, 'us', [quantile(later, 0.5)])
  }
  await Promise.all([mailbox.stop(), door.stop()])
}
