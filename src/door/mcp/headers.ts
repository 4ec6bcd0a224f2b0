// The headers that mirror a modern message (MCP 2026-07-28, Streamable HTTP): made by the bridge, checked by the door.
import { META, metaOf } from './era.ts'
import { CODE, RpcError, type RpcRequest } from './rpc.ts'

export const VERSION_HEADER = 'mcp-protocol-version'
const METHOD_HEADER = 'mcp-method'
const NAME_HEADER = 'mcp-name'

/** The parameter that `Mcp-Name` mirrors, for the methods that have one. */
const NAMED: { readonly [method: string]: string } = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
}

function nameOf({ method, params }: RpcRequest): string | null {
  const name = Object.hasOwn(NAMED, method) ? params[NAMED[method] ?? ''] : null
  return typeof name === 'string' ? name : null
}

/**
 * Compares the headers with the message that they came with.
 * @throws RpcError -32020 naming the header that is missing or says something else
 */
export function checkHeaders(headers: Headers, request: RpcRequest): void {
  const version = headers.get(VERSION_HEADER)
  const said = metaOf(request.params)[META.version]
  if (version === null || (typeof said === 'string' && said !== version)) throw mismatch('MCP-Protocol-Version')
  if (headers.get(METHOD_HEADER) !== request.method) throw mismatch('Mcp-Method')
  const name = nameOf(request)
  if (name !== null && decode(headers.get(NAME_HEADER)) !== name) throw mismatch('Mcp-Name')
}

/** The headers for a message; none for a legacy one, which the door then takes as the oldest revision that it knows. */
export function headersFor(request: RpcRequest): Record<string, string> {
  const version = metaOf(request.params)[META.version]
  if (typeof version !== 'string') return {}
  const name = nameOf(request)
  const named: Record<string, string> = name === null ? {} : { [NAME_HEADER]: encode(name) }
  return { [VERSION_HEADER]: version, [METHOD_HEADER]: encode(request.method), ...named }
}

const mismatch = (header: string) =>
  new RpcError(CODE.headerMismatch, `the header ${header} is missing or differs from the message`, 400)

/** Text that no header can hold travels as `=?base64?…?=`. */
const WRAPPED = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/
const PLAIN = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/

function decode(value: string | null): string | null {
  const wrapped = WRAPPED.exec(value ?? '')
  return wrapped ? Buffer.from(wrapped[1] ?? '', 'base64').toString() : value
}

const encode = (text: string): string =>
  PLAIN.test(text) && !WRAPPED.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
