// Which revision of MCP a message speaks: modern ones say so in `_meta` of every request, legacy ones begin with `initialize`.
import { isRecord, type Message, type Params } from './rpc.ts'

export const MODERN: readonly string[] = ['2026-07-28']
/** Newest first: what `initialize` answers to a version that we do not know. */
export const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26'] as const
export const SUPPORTED: readonly string[] = [...MODERN, ...LEGACY]

/** The one revision with JSON-RPC batches; also that of a request without a version header (MCP 2025-06-18, transports). */
export const BATCHING = '2025-03-26'

/** Keys of `_meta` that the protocol itself uses (MCP 2026-07-28, base). */
export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  client: 'io.modelcontextprotocol/clientInfo',
  server: 'io.modelcontextprotocol/serverInfo',
} as const

export const metaOf = (params: Params): Params => (isRecord(params._meta) ? params._meta : {})

export const isLegacy = (version: string): boolean => LEGACY.some((known) => known === version)

/** By these three, not by their prefix: 2025-11-25 has keys with that prefix, too. */
const saysModern = (params: Params) =>
  [META.version, META.capabilities, META.client].some((key) => Object.hasOwn(metaOf(params), key))

/**
 * Modern when `_meta` or the header says so. `initialize` without such `_meta` is legacy whatever its header: it is
 * where a version is agreed on, and a client that is turned away there has no other way in.
 */
export function eraOf(message: Message, header: string | null): 'modern' | 'legacy' {
  if ('params' in message && saysModern(message.params)) return 'modern'
  if ('method' in message && message.method === 'initialize') return 'legacy'
  return header === null || isLegacy(header) ? 'legacy' : 'modern'
}
