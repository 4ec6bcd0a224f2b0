// A visitor that records what the door hands on, and the requests of both eras.
import { handleMcp } from '../../../../src/door/mcp/door.ts'
import { META } from '../../../../src/door/mcp/era.ts'
import { type MailVisitor, mailTools } from '../../../../src/door/mcp/tools.ts'
import type { Patience } from '../../../../src/engine/mail.ts'
import type { Said } from '../../../../src/identity/identify.ts'
import { type Json, text } from '../../../support/json.ts'

export type Performed = { operation: string; request: object; said: Said; patience: Patience }

/** `answer` decides what each operation gives. */
export class Recorder implements MailVisitor {
  readonly greeted: Said[] = []
  readonly performed: Performed[] = []
  constructor(readonly answer: (performed: Performed) => object | Promise<object> = () => ({ done: true })) {}
  async greet(said: Said) {
    this.greeted.push(said)
  }
  async perform(operation: string, request: object, said: Said, patience: Patience) {
    const performed = { operation, request, said, patience }
    this.performed.push(performed)
    return this.answer(performed)
  }
}

export type Answer = { status: number; headers: Headers; text: string; json: Json }

export async function post(body: Json | string, visitor: MailVisitor = new Recorder(), headers = {}): Promise<Answer> {
  const request = new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const response = await handleMcp(request, mailTools, visitor)
  const body_ = await response.text()
  return { status: response.status, headers: response.headers, text: body_, json: body_ ? JSON.parse(body_) : null }
}

export const legacy = (method: string, params: { [key: string]: Json } = {}, id: Json = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})

const META_FIELDS = {
  [META.version]: '2026-07-28',
  [META.capabilities]: {},
  [META.client]: { name: 'claude-code', version: '2.1.332' },
}

/** A modern message with its headers; `meta` and `headers` replace what would be right. */
export function modern(
  method: string,
  params: { [key: string]: Json } = {},
  meta: { [key: string]: Json } = META_FIELDS,
) {
  const message = legacy(method, { ...params, _meta: meta })
  const name = text(params, 'name')
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(name ? { 'mcp-name': name } : {}) }
  return { message, headers, meta }
}
