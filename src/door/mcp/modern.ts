// MCP 2026-07-28: every request stands for itself, says its version and capabilities in `_meta`, and mirrors them in headers.
import type { Patience } from '../../engine/mail.ts'
import { META, MODERN, metaOf, SUPPORTED } from './era.ts'
import { checkHeaders, VERSION_HEADER } from './headers.ts'
import { CODE, errorText, isRecord, RpcError, type RpcRequest, resultText } from './rpc.ts'
import { CAPABILITIES, callTool, INSTRUCTIONS, SERVER_INFO, saidBy } from './server.ts'
import type { ToolTable, Visitor } from './table.ts'

/** Both change with the version of the server alone, and are the same for every caller. */
const CACHING = '"ttlMs":3600000,"cacheScope":"public"'
const SERVER = `"_meta":${JSON.stringify({ [META.server]: SERVER_INFO })}`

/** Status and text of the answer to one request. Rejects with what `visitor` refuses. */
export async function answerModern<V extends Visitor>(
  request: RpcRequest,
  headers: Headers,
  tools: ToolTable<V>,
  visitor: V,
  patience: Patience,
): Promise<{ status: number; text: string }> {
  try {
    const meta = metaOf(request.params)
    const header = headers.get(VERSION_HEADER)
    // A legacy client of a revision that we do not know ends here: it has no `_meta`, and needs to hear what there is.
    if (header !== null && !SUPPORTED.includes(header) && !(META.version in meta)) throw unsupported(header)
    checkHeaders(headers, request)
    checkMeta(meta)
    const members = await membersFor(request, tools, visitor, patience)
    return { status: 200, text: resultText(request.id, `{"resultType":"complete",${members},${SERVER}}`) }
  } catch (error) {
    if (error instanceof RpcError) return { status: error.status, text: errorText(request.id, error) }
    throw error
  }
}

function checkMeta(meta: Readonly<Record<string, unknown>>): void {
  const asked = meta[META.version]
  if (typeof asked !== 'string' || !isRecord(meta[META.capabilities]))
    throw new RpcError(CODE.invalidParams, `_meta needs ${META.version} and ${META.capabilities}`, 400)
  if (!MODERN.includes(asked)) throw unsupported(asked)
}

function unsupported(asked: string): RpcError {
  const data = { supported: SUPPORTED, requested: asked.slice(0, 64) }
  return new RpcError(CODE.unsupportedVersion, 'unsupported protocol version', 400, data)
}

async function membersFor<V extends Visitor>(
  { method, params }: RpcRequest,
  tools: ToolTable<V>,
  visitor: V,
  patience: Patience,
): Promise<string> {
  const said = saidBy(params, metaOf(params)[META.client])
  switch (method) {
    case 'server/discover': {
      await visitor.greet(said)
      const about = { supportedVersions: SUPPORTED, capabilities: CAPABILITIES, instructions: INSTRUCTIONS }
      return `${JSON.stringify(about).slice(1, -1)},${CACHING}`
    }
    case 'tools/list':
      return `"tools":${JSON.stringify(tools.list)},${CACHING}`
    case 'tools/call':
      return callTool(params, tools, { said, patience }, visitor)
    default:
      throw new RpcError(CODE.methodNotFound, 'method not found', 404)
  }
}
