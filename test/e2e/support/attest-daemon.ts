// A door of its own process, so that it can run as another user: prints its ports, then a verdict a line.
import { openAttestor } from '../../../src/attest/attestor.ts'

const attestor = openAttestor()
const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`)
const doors = ['127.0.0.1', '::1', '127.0.0.1'].map((address) =>
  Bun.serve({
    hostname: address,
    port: 0,
    idleTimeout: 60,
    async fetch(request, self) {
      say(await attestor.tcp(() => self.requestIP(request), { address, port: self.port ?? 0 }))
      return new Response('seen')
    },
  }),
)
say({ ports: doors.map((door) => door.port), uid: process.geteuid?.(), selfTest: await attestor.selfTest() })
process.stdin.on('end', () => process.exit()).resume()
