// Closed-loop load: each connection sends its next request when it has its reply. Rate, latencies, and the server's CPU time.
import { cpuMs } from './proc.ts'
import { quantile } from './stats.ts'
import { type Connection, connect, type Protocol } from './wire.ts'

/** Who is measured, and with which requests. */
export type Target = {
  readonly name: string
  readonly pid: number
  readonly port: number
  readonly protocol: Protocol
  /** The next request of connection number `n`. */
  readonly next: (n: number) => Buffer
  /** Is that reply one of a request that was done? */
  readonly good: (reply: Buffer) => boolean
}

/** Latencies in microseconds; `cpuUs`: of the server, per request. */
export type Measured = { perSecond: number; p50: number; p99: number; cpuUs: number; done: number; bad: number }

const WARM_MS = 300

/** Runs `connections` for `ms` after warming up. `onReply` sees every good reply, also those outside of the measured time. */
export async function load(
  target: Target,
  connections: number,
  ms: number,
  onReply: (reply: Buffer) => void = () => {},
): Promise<Measured> {
  const took: number[] = []
  let bad = 0
  let phase: 'warm' | 'measure' | 'stop' = 'warm'
  let busy = connections
  const idle = Promise.withResolvers<void>()

  /** Connections without a reply yet: the first one of a connection costs more, and is measured elsewhere. */
  let fresh = connections
  const begun = Promise.withResolvers<void>()
  const open: Connection[] = []
  for (let i = 0; i < connections; i++) {
    let began = 0
    let first = true
    const connection = await connect(target.port, target.protocol, (reply) => {
      if (first && --fresh === 0) begun.resolve()
      first = false
      if (phase === 'measure') took.push(performance.now() - began)
      if (target.good(reply)) onReply(reply)
      else bad++
      if (phase !== 'stop') ask()
      else if (--busy === 0) idle.resolve()
    })
    const ask = () => {
      began = performance.now()
      connection.send(target.next(i))
    }
    if (target.protocol.greeting) connection.send(target.protocol.greeting(i))
    open.push(connection)
    ask()
  }
  await begun.promise
  await Bun.sleep(WARM_MS)
  const cpu = cpuMs(target.pid)
  const start = performance.now()
  phase = 'measure'
  await Bun.sleep(ms)
  phase = 'stop'
  const seconds = (performance.now() - start) / 1000
  const used = cpuMs(target.pid) - cpu
  await idle.promise
  for (const connection of open) connection.close()
  return {
    perSecond: took.length / seconds,
    p50: quantile(took, 0.5) * 1000,
    p99: quantile(took, 0.99) * 1000,
    cpuUs: (used * 1000) / took.length,
    done: took.length,
    bad,
  }
}
