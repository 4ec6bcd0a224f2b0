// A port forwarder, as socat is one: what comes in goes on to the port that it is given.
import { connect, createServer } from 'node:net'

const port = Number(process.argv[2])
const server = createServer((inner) => {
  const outer = connect(port, '127.0.0.1')
  inner.pipe(outer)
  outer.pipe(inner)
  for (const socket of [inner, outer]) socket.on('error', () => {})
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${JSON.stringify(server.address())}\n`))
