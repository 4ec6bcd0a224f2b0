// The TCP door: one port on 127.0.0.1 and on ::1, and never anywhere else.
import { networkInterfaces } from 'node:os'
import type { Attestor } from '../attest/attestor.ts'
import { LIMITS } from '../wire/limits.ts'
import { Refusal } from '../wire/refusal.ts'
import { cameOver } from './http/caller.ts'

/** The app, as a listener sees it. */
export type Serve = (request: Request) => Response | Promise<Response>

export type TcpDoor = {
  readonly port: number
  readonly listening: string[]
  readonly unavailable: { address: string; reason: string }[]
  /** Takes no new connections; ends when the answers under way are out, or after `ms` by closing them. */
  stop(ms: number): Promise<void>
}

/** Seconds; Bun's longest. A wait of a minute is silent, and an agent keeps its connection between turns. */
const IDLE = 255
const ATTEMPTS = 8
/** Bytes: bodies up to here are refused with a reason; larger ones are cut off. */
export const ABSURD = 64 * LIMITS.request

/**
 * Listens on `port` (0: any free one) on both loopback addresses.
 * @throws Refusal `port_taken` naming it, also when only ::1 is taken: clients of `localhost` would call the other program
 */
export function listen(port: number, attestor: Attestor, serve: Serve): TcpDoor {
  for (let attempt = 1; ; attempt++) {
    try {
      return listenOnce(port, attestor, serve)
    } catch (error) {
      // a port that the kernel chose on 127.0.0.1 may be another program's on ::1
      if (port !== 0 || attempt === ATTEMPTS) throw error
    }
  }
}

/**
 * Tries to listen on `port`, and leaves it again.
 * @throws Refusal `port_taken`
 */
export async function mustBeFree(port: number, attestor: Attestor): Promise<void> {
  if (port !== 0) await listenOnce(port, attestor, () => Response.error()).stop(0)
}

function listenOnce(port: number, attestor: Attestor, serve: Serve): TcpDoor {
  const first = bind('127.0.0.1', port, attestor, serve)
  const chosen = first.port ?? port
  const servers = [first]
  const unavailable: TcpDoor['unavailable'] = []
  if (!hasIpv6Loopback()) unavailable.push({ address: '::1', reason: 'this machine has no ::1' })
  else {
    try {
      servers.push(bind('::1', chosen, attestor, serve))
    } catch (error) {
      const code = error instanceof Refusal ? error.facts.code : undefined
      if (code === 'EADDRINUSE' || typeof code !== 'string') {
        void first.stop(true)
        throw error
      }
      unavailable.push({ address: '::1', reason: code })
    }
  }
  return {
    port: chosen,
    listening: servers.map((server) => (server.hostname === '::1' ? `[::1]:${chosen}` : `127.0.0.1:${chosen}`)),
    unavailable,
    async stop(ms) {
      const timeout = Promise.withResolvers<void>()
      const timer = setTimeout(timeout.resolve, ms)
      await Promise.race([Promise.all(servers.map((server) => server.stop())), timeout.promise])
      clearTimeout(timer)
      for (const server of servers) void server.stop(true)
    },
  }
}

function bind(address: string, port: number, attestor: Attestor, serve: Serve): Bun.Server<undefined> {
  try {
    const server = Bun.serve({
      hostname: address,
      port,
      idleTimeout: IDLE,
      maxRequestBodySize: ABSURD,
      development: false,
      reusePort: false, // `development: false` turns it on: then a second daemon would take half of the connections
      fetch: (request, server) => {
        const local = { address, port: server.port ?? port }
        cameOver(request, { over: 'tcp', attest: () => attestor.tcp(() => server.requestIP(request), local) })
        return serve(request)
      },
    })
    return server
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new Refusal('port_taken', `cannot listen on port ${port} of ${address} (${code})`, { port, address, code })
  }
}

const hasIpv6Loopback = (): boolean =>
  Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'))
