// The program of an actor: reads orders as JSON lines, calls the mailbox at the named door, prints the replies.
import { request } from 'node:http'
import type { DoorName, Order, Reply, Where } from './actor.ts'
import { cliArguments } from './cli-arguments.ts'
import { BINARY } from './mailbox.ts'

const where = JSON.parse(process.env.ACTOR ?? '{}') as Where
const TOOLS: Record<string, string> = { directory: 'peers' }
const MODERN = '2026-07-28'

async function http(
  target: { port: number } | { socketPath: string },
  path: string,
  body: string,
  more: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      host: `127.0.0.1:${where.port}`,
      authorization: `Bearer ${where.token}`,
      'content-type': 'application/json',
      accept: 'application/json',
      ...more,
    }
    const outgoing = request(
      { ...target, ...('port' in target ? { host: '127.0.0.1' } : {}), path, method: 'POST', headers },
      (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString() }))
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

const parse = ({ status, text }: { status: number; text: string }): Reply => ({
  status,
  body: text ? JSON.parse(text) : {},
})

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })

async function mcp(op: string, args: object, modern: boolean, token: string): Promise<Reply> {
  const name = `m4a_mail_${TOOLS[op] ?? op}`
  const meta = { 'io.modelcontextprotocol/protocolVersion': MODERN, 'io.modelcontextprotocol/clientCapabilities': {} }
  const params = { name, arguments: args, ...(modern ? { _meta: meta } : {}) }
  const headers: Record<string, string> = modern
    ? { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': name }
    : { 'mcp-protocol-version': '2025-11-25' }
  const reply = parse(
    await http({ port: where.port }, '/mcp', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }), {
      ...headers,
      ...bearer(token),
    }),
  )
  const result = reply.body.result ?? reply.body
  return { status: reply.status, body: result.structuredContent ?? result }
}

async function cli(op: string, args: Record<string, unknown>, token: string): Promise<Reply> {
  const { argv, input } = cliArguments(op, args)
  const child = Bun.spawn([BINARY, ...argv, '--json'], {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: where.root,
      M4A_DATA_DIR: where.data,
      M4A_TOKEN: token,
      M4A_RECOGNISED_AGENTS: '',
    },
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  // where only some recipients were refused there is an answer, and the exit code says that something was
  const refusal = code === 0 ? undefined : err.split('\n').find((line) => line.startsWith('{'))
  const text = refusal ?? (out.trim() || code === 0 ? out : JSON.stringify({ stderr: err }))
  return { status: code, body: text.trim() ? JSON.parse(text) : {} }
}

async function events(cursor: string, last: string): Promise<Reply> {
  const response = await fetch(`http://127.0.0.1:${where.port}/events?cursor=${cursor}`, {
    headers: { authorization: `Bearer ${where.token}` },
  })
  const ids = new Set<string>()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString()
    for (const [, id] of text.matchAll(/^data: .*"message_id":"(m4a_[0-9a-f]{24})".*\n/gm)) ids.add(id ?? '')
    if (ids.has(last)) break
  }
  return { status: response.status, body: { ids: [...ids] } }
}

async function run(order: Order): Promise<Reply> {
  if (order.door === 'events') return events(order.cursor, order.last)
  if (order.door === 'raw')
    return parse(await http({ port: where.port }, order.path, JSON.stringify(order.request), order.headers ?? {}))
  const { op, request, token = where.token } = order
  const body = JSON.stringify(request)
  const door: Record<DoorName, () => Promise<Reply>> = {
    http: async () => parse(await http({ port: where.port }, `/mail/${op}`, body, bearer(token))),
    socket: async () => parse(await http({ socketPath: where.socket }, `/mail/${op}`, body, bearer(token))),
    'mcp-legacy': () => mcp(op, request, false, token),
    'mcp-modern': () => mcp(op, request, true, token),
    cli: () => cli(op, request as Record<string, unknown>, token),
  }
  return door[order.door]()
}

for await (const line of console) {
  if (!line.endsWith('}')) break // the test has ended in the middle of an order
  const { id, ...order } = JSON.parse(line) as Order & { id: number }
  void run(order as Order).then(
    (reply) => process.stdout.write(`${JSON.stringify({ id, ...reply })}\n`),
    (error) => process.stdout.write(`${JSON.stringify({ id, status: 0, body: { failed: String(error) } })}\n`),
  )
}
