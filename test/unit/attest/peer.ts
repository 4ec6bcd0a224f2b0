// A peer for the attestation tests: a process of its own that does to its connection what it is told, line by line.
import net from 'node:net'
import { createInterface } from 'node:readline'

type Order = {
  do: string
  port?: number
  host?: string
  localPort?: number
  from?: string
  path?: string
  command?: string[]
}

let socket: net.Socket | undefined
let raw: { fd: number; write: (text: string) => void } | undefined
let child: Bun.Subprocess | undefined
const say = (line: string) => process.stdout.write(`${line}\n`)

async function openRaw(order: Order): Promise<{ fd: number; write: (text: string) => void }> {
  const handlers = { socket: { data() {} } }
  const opened = order.path
    ? await Bun.connect({ unix: order.path, ...handlers })
    : await Bun.connect({ hostname: order.host ?? '127.0.0.1', port: order.port ?? 0, ...handlers })
  return { fd: Number(Reflect.get(opened, 'fd')), write: (text) => opened.write(text) }
}

const actions: Record<string, (order: Order) => Promise<unknown>> = {
  /** a connection whose descriptor is known, so that it can be given to a child */
  async open(order) {
    raw = await openRaw(order)
  },
  /** a connection that can be reset, half-closed, and bound to a port */
  connect: (order) =>
    new Promise((done, fail) => {
      const target = { host: order.host ?? '127.0.0.1', port: order.port ?? 0, allowHalfOpen: true }
      const local = {
        ...(order.localPort && { localPort: order.localPort }),
        ...(order.from && { localAddress: order.from }),
      }
      socket = net.connect({ ...target, ...local }, () => done(socket?.localPort))
      socket.on('data', () => {})
      socket.on('error', fail)
    }),
  async send() {
    const request = 'GET / HTTP/1.1\r\nHost: test\r\n\r\n'
    raw ? raw.write(request) : socket?.write(request)
  },
  async reset() {
    socket?.resetAndDestroy()
  },
  async end() {
    socket?.end()
  },
  /** a child that has the connection as its descriptor 3 */
  async share(order) {
    const command = order.command ?? ['sleep', '60']
    child = Bun.spawn(command, { stdio: ['ignore', 'ignore', 'ignore', raw?.fd ?? 'ignore'] })
    return child.pid
  },
  async unshare() {
    child?.kill('SIGKILL')
    await child?.exited
  },
}

say(`ready ${process.pid}`)
for await (const line of createInterface({ input: process.stdin })) {
  const order: Order = JSON.parse(line)
  const answer = await actions[order.do]?.(order)
  say(`done ${answer ?? ''}`)
}
child?.kill('SIGKILL')
process.exit()
