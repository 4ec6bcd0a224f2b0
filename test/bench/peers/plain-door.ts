// Bun.serve with the schema of the real door, compiled by TypeBox, and no framework around it. Prints its port.
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { OPERATIONS } from '../../../src/wire/operations.ts'
import { SENT } from './answers.ts'

const schema = TypeCompiler.Compile(OPERATIONS.send.request)
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  routes: {
    '/mail/send': {
      async POST(request) {
        if (!schema.Check(await request.json())) return new Response(null, { status: 400 })
        return new Response(SENT, { headers: { 'content-type': 'application/json' } })
      },
    },
  },
})
process.stdout.write(`${server.port}\n`)
