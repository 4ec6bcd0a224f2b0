// JSON-RPC 2.0 as MCP uses it: what a message is, and the text of the answers. Answers are text, so that ready JSON is spliced in.

export type Id = string | number
export type Params = { readonly [key: string]: unknown }
export type RpcRequest = { readonly kind: 'request'; readonly id: Id; readonly method: string; readonly params: Params }
export type Message =
  | RpcRequest
  | { readonly kind: 'notification'; readonly method: string; readonly params: Params }
  | { readonly kind: 'response' }
  | { readonly kind: 'invalid'; readonly id: Id | null }

/** Codes of JSON-RPC 2.0 §5.1 and, below -32000, of MCP 2026-07-28. */
export const CODE = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const

/** A protocol error: the door answers it with `code`; `status` is that of a modern answer (legacy ones are 200 or 400). */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly status: number,
    readonly data?: object,
  ) {
    super(message)
  }
}

/** What `value` (parsed JSON) is. Ids are strings or numbers; MCP allows no null id, and params are always an object. */
export function readMessage(value: unknown): Message {
  if (!isRecord(value)) return { kind: 'invalid', id: null }
  const { jsonrpc, id, method, params = {} } = value
  const known = typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id)) ? id : null
  if (jsonrpc !== '2.0') return { kind: 'invalid', id: known }
  if (method === undefined && ('result' in value || 'error' in value)) return { kind: 'response' }
  if (typeof method !== 'string' || !isRecord(params)) return { kind: 'invalid', id: known }
  if (id === undefined) return { kind: 'notification', method, params }
  return known === null ? { kind: 'invalid', id: null } : { kind: 'request', id: known, method, params }
}

/** The text of a success; `result` is JSON text. */
export const resultText = (id: Id, result: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`

export const errorText = (id: Id | null, { code, message, data }: RpcError): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } })

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
