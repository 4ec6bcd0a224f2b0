// What the framework of the door costs: Elysia as the mailbox uses it beside Bun.serve with the same compiled schema.
import type { Bench } from '../bench.ts'
import { HTTP, holds } from '../http.ts'
import { sends } from '../letters.ts'
import type { Target } from '../load.ts'
import { bareDoor, plainDoor } from '../peers/peers.ts'
import { interleave, series } from '../rounds.ts'
import { ratios } from '../stats.ts'

const CONNECTIONS = [16]

export async function benchHttp(bench: Bench): Promise<void> {
  const [elysia, plain] = [await bareDoor(), await plainDoor()]
  const http = { protocol: HTTP, next: sends(() => 'nobody'), good: holds('"message_id":"m4a_') }
  const targets: Target[] = [
    { name: 'Elysia', ...elysia, ...http },
    { name: 'Bun.serve', ...plain, ...http },
  ]
  const runs = await interleave(targets, CONNECTIONS, bench.plan)
  for (const { name } of targets) {
    bench.row('http', `${name}, c=16`, '/s', series(runs, name, 16, 'perSecond'))
    bench.row('http', `${name}, c=16, CPU`, 'us/req', series(runs, name, 16, 'cpuUs'))
  }
  bench.hold('httpPlain', ratios(series(runs, 'Elysia', 16, 'perSecond'), series(runs, 'Bun.serve', 16, 'perSecond')))
  await Promise.all([elysia.stop(), plain.stop()])
}
