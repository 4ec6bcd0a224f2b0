// The Anthropic Messages API, as Claude Code speaks it.
import { dig, type Json, list, text } from '../json.ts'
import { contentText, type Dialect, eventStream, type Reply } from './model-api.ts'

function block(reply: Reply): { [key: string]: Json } {
  if ('say' in reply) return { type: 'text', text: reply.say }
  return { type: 'tool_use', id: reply.id, name: reply.tool.name, input: reply.args }
}

function stream(message: { [key: string]: Json }, reply: Reply): Response {
  const start = 'say' in reply ? { type: 'text', text: '' } : { ...block(reply), input: {} }
  const delta =
    'say' in reply
      ? { type: 'text_delta', text: reply.say }
      : { type: 'input_json_delta', partial_json: JSON.stringify(reply.args) }
  const stop = { stop_reason: message.stop_reason ?? null, stop_sequence: null }
  const event = (type: string, data: { [key: string]: Json }): [string, Json] => [type, { type, ...data }]
  return eventStream([
    event('message_start', { message: { ...message, content: [], stop_reason: null } }),
    event('content_block_start', { index: 0, content_block: start }),
    event('content_block_delta', { index: 0, delta }),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: stop, usage: { output_tokens: 1 } }),
    event('message_stop', {}),
  ])
}

export const anthropicMessages: Dialect = {
  read(body) {
    const blocks = list(body, 'messages').flatMap((message) => list(message, 'content'))
    return {
      tools: list(body, 'tools').map((tool) => ({ name: text(tool, 'name') })),
      results: blocks
        .filter((part) => text(part, 'type') === 'tool_result')
        .map((part) => ({ id: text(part, 'tool_use_id'), text: contentText(dig(part, 'content')) })),
    }
  },
  write(body, reply) {
    const message = {
      id: `msg_${crypto.randomUUID()}`,
      type: 'message',
      role: 'assistant',
      model: text(body, 'model'),
      content: [block(reply)],
      stop_reason: 'say' in reply ? 'end_turn' : 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    }
    return dig(body, 'stream') === true ? stream(message, reply) : Response.json(message)
  },
}
