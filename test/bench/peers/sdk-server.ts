// The official MCP SDK: its web-standard transport with one session, and one tool with nothing behind it. Prints its port.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'

const mcp = new McpServer({ name: 'bench', version: '1' })
mcp.registerTool('whoami', { description: 'nothing' }, () => ({
  content: [{ type: 'text', text: '{"address":{"kind":"direct","participant":"box-1"}}' }],
}))
const transport = new WebStandardStreamableHTTPServerTransport({
  sessionIdGenerator: () => 'bench',
  enableJsonResponse: true,
})
await mcp.connect(transport)
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  fetch: (request) => transport.handleRequest(request),
})
process.stdout.write(`${server.port}\n`)
