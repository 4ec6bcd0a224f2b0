// The bare door: Elysia with the validation of the real one, and nothing behind it. Run as a program; prints its port.
// With the word `attested` it asks who calls before it answers: the difference is what attestation costs.
import { Elysia } from 'elysia'
import { openAttestor } from '../../../src/attest/attestor.ts'
import { checkRequest } from '../../../src/door/validate.ts'
import { OPERATIONS } from '../../../src/wire/operations.ts'
import { SENT } from './answers.ts'

const ME = JSON.stringify({ address: { kind: 'direct', participant: 'box-1' }, address_text: 'box-1', unread: 0 })

const route = (name: 'send' | 'whoami', answer: string) => async (context: { request: Request }) => {
  const refusal = checkRequest(OPERATIONS[name].request, await context.request.json())
  if (refusal) return Response.json(refusal, { status: refusal.status })
  return new Response(answer, { headers: { 'content-type': 'application/json' } })
}

const app = new Elysia({ normalize: false, strictPath: true })
  .post('/mail/send', route('send', SENT), { parse: 'none' })
  .post('/mail/whoami', route('whoami', ME), { parse: 'none' })
const attestor = process.argv[2] === 'attested' ? openAttestor() : null
const hostname = '127.0.0.1'
const server = Bun.serve({
  hostname,
  port: 0,
  development: false,
  fetch:
    attestor === null
      ? app.fetch
      : async (request, self) => {
          const asked = attestor.tcp(() => self.requestIP(request), { address: hostname, port: self.port ?? 0 })
          const verdict = asked instanceof Promise ? await asked : asked
          return verdict.ok ? app.fetch(request) : Response.json(verdict, { status: 403 })
        },
})
process.stdout.write(`${server.port}\n`)
