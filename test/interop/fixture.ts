// The MCP door with the tools that the conformance suite asks for, in place of the mailbox's and without a bearer.
import { checkBody, checkSource } from '../../src/door/http/guard.ts'
import { handleMcp } from '../../src/door/mcp/door.ts'
import { CODE, RpcError } from '../../src/door/mcp/rpc.ts'
import type { ToolResult, ToolTable, Visitor } from '../../src/door/mcp/table.ts'
import { Refusal } from '../../src/wire/refusal.ts'

const text = (words: string) => ({ type: 'text', text: words })
// The smallest files of their kind: a pixel, and a sound without samples.
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const silence = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='
const image = { type: 'image', data: pixel, mimeType: 'image/png' }
const resource = (uri: string, mimeType: string, words: string) => ({
  type: 'resource',
  resource: { uri, mimeType, text: words },
})

const noArguments = { type: 'object', additionalProperties: false }

/** As `json-schema-2020-12` asks for it: the door must hand a schema on as it is. */
const rich = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

type Row = { schema?: object; result: () => ToolResult }

const ROWS: { readonly [name: string]: Row } = {
  test_simple_text: { result: () => ({ content: [text('This is a simple text response for testing.')] }) },
  test_error_handling: {
    result: () => ({ content: [text('This tool intentionally returns an error for testing')], isError: true }),
  },
  test_image_content: { result: () => ({ content: [image] }) },
  test_audio_content: { result: () => ({ content: [{ type: 'audio', data: silence, mimeType: 'audio/wav' }] }) },
  test_embedded_resource: {
    result: () => ({
      content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
    }),
  },
  test_multiple_content_types: {
    result: () => ({
      content: [
        text('Multiple content types test:'),
        image,
        resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  },
  json_schema_2020_12_tool: { schema: rich, result: () => ({ content: [text('valid')] }) },
  // What the stateless scenario probes: a missing capability, and that a tool's answer brings nothing but itself.
  test_missing_capability: {
    result() {
      throw new RpcError(CODE.missingCapability, 'needs sampling', 400, { requiredCapabilities: { sampling: {} } })
    },
  },
  test_streaming_elicitation: { result: () => ({ content: [text('asked nothing')] }) },
  test_logging_tool: { result: () => ({ content: [text('logged nothing')] }) },
}

const tools: ToolTable<Visitor> = {
  list: Object.entries(ROWS).map(([name, { schema }]) => ({
    name,
    description: 'for the conformance suite',
    inputSchema: schema ?? noArguments,
  })),
  async call(name) {
    return Object.hasOwn(ROWS, name) ? (ROWS[name]?.result() ?? null) : null
  },
}

const visitor: Visitor = { greet: async () => {} }

/** Serves the fixture on a free port of 127.0.0.1; suites that send other Host headers need the name `localhost`. */
export function startFixture(): { url: string; stop(): Promise<void> } {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      try {
        checkSource(request)
        checkBody(request)
        return await handleMcp(request, tools, visitor)
      } catch (error) {
        if (error instanceof Refusal) return Response.json(error, { status: error.status })
        throw error
      }
    },
  })
  return { url: `http://localhost:${server.port}/mcp`, stop: () => server.stop(true) }
}
