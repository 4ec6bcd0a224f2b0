// The bare door: Elysia with the validation of the real one, and nothing behind it. Run as a program; prints its port.
import { Elysia } from 'elysia'
import { checkRequest } from '../../../src/door/validate.ts'
import { OPERATIONS } from '../../../src/wire/operations.ts'

const SENT = JSON.stringify({
  message_id: 'm4a_000000000001000000000000',
  thread: 'm4a_000000000001000000000000',
  from: { kind: 'session', participant: 'sender-1', session: `s-${'0'.repeat(32)}` },
  from_text: `sender-1/s-${'0'.repeat(32)}`,
  results: [{ to: { kind: 'direct', participant: 'box-1' }, to_text: 'box-1', ok: true, state: 'new' }],
  hop: 0,
  created_at: new Date(0).toISOString(),
  created_at_unix_ms: 0,
  now: new Date(0).toISOString(),
})
const ME = JSON.stringify({ address: { kind: 'direct', participant: 'box-1' }, address_text: 'box-1', unread: 0 })

const route = (name: 'send' | 'whoami', answer: string) => async (context: { request: Request }) => {
  const refusal = checkRequest(OPERATIONS[name].request, await context.request.json())
  if (refusal) return Response.json(refusal, { status: refusal.status })
  return new Response(answer, { headers: { 'content-type': 'application/json' } })
}

const app = new Elysia({ normalize: false, strictPath: true })
  .post('/mail/send', route('send', SENT), { parse: 'none' })
  .post('/mail/whoami', route('whoami', ME), { parse: 'none' })
const server = Bun.serve({ hostname: '127.0.0.1', port: 0, development: false, fetch: app.fetch })
process.stdout.write(`${server.port}\n`)
