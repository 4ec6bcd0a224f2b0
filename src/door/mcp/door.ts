// The MCP door: one POST in, plain JSON out (never SSE), for both eras. Host, Origin, size, bearer and process were checked before it.
import type { Patience } from '../../engine/mail.ts'
import { LIMITS } from '../../wire/limits.ts'
import { Refusal } from '../../wire/refusal.ts'
import { BATCHING, eraOf, SUPPORTED } from './era.ts'
import { VERSION_HEADER } from './headers.ts'
import { answerLegacy } from './legacy.ts'
import { answerModern } from './modern.ts'
import { CODE, errorText, type Id, type Message, RpcError, readMessage } from './rpc.ts'
import type { ToolTable, Visitor } from './table.ts'

/**
 * Answers one HTTP request at /mcp. A call that waits ends when the request's signal aborts, or after LIMITS.waitMcp s.
 * Rejects with a Refusal of `visitor.greet` and with faults; what a tool refuses is a result.
 */
export async function handleMcp<V extends Visitor>(
  request: Request,
  tools: ToolTable<V>,
  visitor: V,
): Promise<Response> {
  if (request.method !== 'POST') return notAllowed()
  const body = await readBody(request)
  if (body === undefined) return refuse(null, CODE.parse, 'the body is not JSON in UTF-8')
  const patience: Patience = { capSeconds: LIMITS.waitMcp, signal: request.signal }
  const header = request.headers.get(VERSION_HEADER)
  if (Array.isArray(body)) return batch(body.map(readMessage), header, tools, visitor, patience)

  const message = readMessage(body)
  if (message.kind === 'invalid') return refuse(message.id, CODE.invalidRequest, 'not a JSON-RPC 2.0 request')
  const era = eraOf(message, header)
  if (message.kind !== 'request') return accepted()
  if (era === 'modern') {
    const { status, text } = await answerModern(message, request.headers, tools, visitor, patience)
    return json(text, status)
  }
  return json(await answerLegacy(message, tools, visitor, patience))
}

/** MCP 2025-03-26 alone: an array in, an array without the notifications out. Its calls run, and wait, at the same time. */
async function batch<V extends Visitor>(
  messages: Message[],
  header: string | null,
  tools: ToolTable<V>,
  visitor: V,
  patience: Patience,
): Promise<Response> {
  const known = header === null || header === BATCHING
  if (!known || messages.some((message) => eraOf(message, header) === 'modern'))
    return refuse(null, CODE.invalidRequest, `only ${BATCHING} has batches`)
  if (messages.length === 0) return refuse(null, CODE.invalidRequest, 'an empty batch')
  if (messages.length > LIMITS.rpcBatch)
    return refuse(null, CODE.invalidRequest, `a batch has at most ${LIMITS.rpcBatch} messages`)
  const answers = messages.map((message) => {
    if (message.kind === 'invalid')
      return errorText(message.id, new RpcError(CODE.invalidRequest, 'not a JSON-RPC 2.0 request', 200))
    if (message.kind !== 'request') return null
    if (message.method !== 'initialize') return answerLegacy(message, tools, visitor, patience)
    const alone = new RpcError(CODE.invalidRequest, 'initialize must not be in a batch', 200, { supported: SUPPORTED })
    return errorText(message.id, alone)
  })
  const texts = (await Promise.all(answers)).filter((text) => text !== null)
  return texts.length === 0 ? accepted() : json(`[${texts.join(',')}]`)
}

/** Undefined for what is not JSON, or ended before it was whole. Invalid UTF-8 is refused, too: a mailbox must not alter a letter silently. */
async function readBody(request: Request): Promise<unknown> {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(await request.bytes()))
  } catch {
    return undefined
  }
}

const json = (text: string, status = 200): Response =>
  new Response(text, { status, headers: { 'content-type': 'application/json' } })

const refuse = (id: Id | null, code: number, reason: string): Response =>
  json(errorText(id, new RpcError(code, reason, 400, { supported: SUPPORTED })), 400)

/** Nothing to say: without body and without content type, or clients try to parse it. */
const accepted = (): Response => new Response(null, { status: 202 })

/** Clients open a stream with GET and take 405 as "there is none". */
function notAllowed(): Response {
  const body = JSON.stringify(
    new Refusal('method_not_allowed', 'mcp is POST only, without streams', {}, 'POST JSON-RPC'),
  )
  return new Response(body, { status: 405, headers: { allow: 'POST', 'content-type': 'application/json' } })
}
