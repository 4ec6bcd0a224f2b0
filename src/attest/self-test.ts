// Does attestation work on this machine? A connection to ourselves must name ourselves.
import type { Attestor, Endpoint, Verdict } from './attestor.ts'

export type SelfTestResult = { ok: true } | { ok: false; reason: string }

const PATIENCE_MS = 10_000

/** Catches a kernel without sock_diag, a strange /proc, a wrong layout, a missing worker: before a person meets them. */
export async function selfTest(attestor: Attestor): Promise<SelfTestResult> {
  const { promise, resolve } = Promise.withResolvers<Verdict | Error>()
  const hostname = '127.0.0.1'
  let server: Bun.Server<undefined> | undefined
  const timer = setTimeout(() => resolve(new Error('no answer in time')), PATIENCE_MS)
  try {
    server = Bun.serve({
      hostname,
      port: 0,
      async fetch(request, self) {
        const local: Endpoint = { address: hostname, port: self.port ?? 0 }
        resolve(await attestor.tcp(() => self.requestIP(request), local))
        return new Response()
      },
    })
    // A plain socket: fetch would go through a proxy that the environment names.
    const client = await Bun.connect({ hostname, port: server.port ?? 0, socket: { data() {} } })
    client.write(`GET / HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`)
    const verdict = await promise
    client.end()
    if (verdict instanceof Error) return { ok: false, reason: verdict.message }
    if (!verdict.ok)
      return { ok: false, reason: `own connection refused: ${verdict.kind} ${JSON.stringify(verdict.seen)}` }
    const { pid } = verdict.process
    return pid === process.pid
      ? { ok: true }
      : { ok: false, reason: `own connection named pid ${pid}, not ${process.pid}` }
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : 'no connection to ourselves' }
  } finally {
    clearTimeout(timer)
    await server?.stop(true)
  }
}
