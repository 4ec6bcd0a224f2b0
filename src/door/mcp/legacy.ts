// MCP 2025-03-26 to 2025-11-25: `initialize` first, then plain calls. Stateless: no session id, any request may come first.
import type { Patience } from '../../engine/mail.ts'
import { isLegacy, LEGACY } from './era.ts'
import { CODE, errorText, RpcError, type RpcRequest, resultText } from './rpc.ts'
import { CAPABILITIES, callTool, INSTRUCTIONS, SERVER_INFO, saidBy } from './server.ts'
import type { ToolTable, Visitor } from './table.ts'

/** The text of the answer to one request. Rejects with what `visitor` refuses. */
export async function answerLegacy<V extends Visitor>(
  request: RpcRequest,
  tools: ToolTable<V>,
  visitor: V,
  patience: Patience,
): Promise<string> {
  try {
    return resultText(request.id, await result(request, tools, visitor, patience))
  } catch (error) {
    if (error instanceof RpcError) return errorText(request.id, error)
    throw error
  }
}

async function result<V extends Visitor>(
  { method, params }: RpcRequest,
  tools: ToolTable<V>,
  visitor: V,
  patience: Patience,
): Promise<string> {
  switch (method) {
    case 'initialize': {
      await visitor.greet(saidBy(params, params.clientInfo))
      const asked = params.protocolVersion
      // Our newest legacy version to one that we do not speak, 2026-07-28 among them: that revision has no `initialize`.
      const protocolVersion = typeof asked === 'string' && isLegacy(asked) ? asked : LEGACY[0]
      return JSON.stringify({
        protocolVersion,
        capabilities: CAPABILITIES,
        serverInfo: SERVER_INFO,
        instructions: INSTRUCTIONS,
      })
    }
    case 'ping':
      return '{}'
    case 'tools/list':
      return JSON.stringify({ tools: tools.list })
    case 'tools/call':
      return `{${await callTool(params, tools, { said: saidBy(params, undefined), patience }, visitor)}}`
    default:
      throw new RpcError(CODE.methodNotFound, 'method not found', 200)
  }
}
