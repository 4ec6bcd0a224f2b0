// A page of the same size without a mailbox: the file in argv, parsed once, printed for each request. Prints its port.
import { argv } from 'node:process'

const page: unknown = await Bun.file(argv[2] ?? '').json()
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  async fetch(request) {
    await request.json()
    return Response.json(page)
  },
})
process.stdout.write(`${server.port}\n`)
