// The OpenAI Responses API, as Codex speaks it.
import { dig, type Json, list, text } from '../json.ts'
import { contentText, type Dialect, eventStream, type Reply, type Tool } from './model-api.ts'

/** Codex groups the tools of an MCP server under one namespace entry. */
function tools(body: Json): Tool[] {
  return list(body, 'tools').flatMap((tool) => {
    const name = text(tool, 'name')
    if (text(tool, 'type') !== 'namespace') return name ? [{ name }] : []
    return list(tool, 'tools').map((inner) => ({ name: text(inner, 'name'), namespace: name }))
  })
}

function item(reply: Reply): Json {
  if ('say' in reply) {
    const content = [{ type: 'output_text', text: reply.say, annotations: [] }]
    return { type: 'message', id: `m_${crypto.randomUUID()}`, role: 'assistant', status: 'completed', content }
  }
  const args = JSON.stringify(reply.args)
  return {
    type: 'function_call',
    id: `fc_${reply.id}`,
    call_id: reply.id,
    ...reply.tool,
    arguments: args,
    status: 'completed',
  }
}

export const openaiResponses: Dialect = {
  read(body) {
    return {
      tools: tools(body),
      results: list(body, 'input')
        .filter((entry) => text(entry, 'type') === 'function_call_output')
        .map((entry) => ({ id: text(entry, 'call_id'), text: contentText(dig(entry, 'output')) })),
    }
  },
  write(body, reply) {
    const output = item(reply)
    const usage = {
      input_tokens: 1,
      output_tokens: 1,
      total_tokens: 2,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    }
    const id = `resp_${crypto.randomUUID()}`
    const base = { id, object: 'response', created_at: 1, model: text(body, 'model'), usage }
    const response = { ...base, status: 'completed', output: [output] }
    const event = (type: string, data: { [key: string]: Json }): [string, Json] => [type, { type, ...data }]
    return eventStream([
      event('response.created', { response: { ...base, status: 'in_progress', output: [] } }),
      event('response.output_item.added', { output_index: 0, item: output }),
      event('response.output_item.done', { output_index: 0, item: output }),
      event('response.completed', { response }),
    ])
  },
}
