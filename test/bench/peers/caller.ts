// A process that nobody knows yet: connects, asks once, prints the microseconds that took. PORT, and the request in base64.
import { HTTP } from '../http.ts'
import { asker } from '../wire.ts'

const [, , port, request] = process.argv
const line = await asker(Number(port), HTTP)
const bytes = Buffer.from(request ?? '', 'base64')
const start = performance.now()
const reply = await line.ask(bytes)
const took = (performance.now() - start) * 1000
if (!reply.toString('latin1', 0, 15).startsWith('HTTP/1.1 200 OK')) throw new Error(reply.toString())
process.stdout.write(`${took}\n`)
line.close()
