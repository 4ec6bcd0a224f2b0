// The OpenAI Chat Completions API, as opencode speaks it through its "openai-compatible" provider.
import { dig, type Json, list, text } from '../json.ts'
import { contentText, type Dialect, eventStream, type Reply } from './model-api.ts'

function message(reply: Reply): { [key: string]: Json } {
  if ('say' in reply) return { role: 'assistant', content: reply.say }
  const call = { name: reply.tool.name, arguments: JSON.stringify(reply.args) }
  return { role: 'assistant', tool_calls: [{ index: 0, id: reply.id, type: 'function', function: call }] }
}

export const openaiChat: Dialect = {
  read(body) {
    return {
      tools: list(body, 'tools').map((tool) => ({ name: text(tool, 'function', 'name') })),
      results: list(body, 'messages')
        .filter((entry) => text(entry, 'role') === 'tool')
        .map((entry) => ({ id: text(entry, 'tool_call_id'), text: contentText(dig(entry, 'content')) })),
    }
  },
  write(body, reply) {
    const base = { id: `c_${crypto.randomUUID()}`, created: 1, model: text(body, 'model') }
    const finish = 'say' in reply ? 'stop' : 'tool_calls'
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    if (dig(body, 'stream') !== true) {
      const choices = [{ index: 0, message: message(reply), finish_reason: finish }]
      return Response.json({ ...base, object: 'chat.completion', choices, usage })
    }
    const chunk = (delta: Json, finish_reason: string | null): [null, Json] => [
      null,
      { ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] },
    ]
    return eventStream([chunk(message(reply), null), chunk({}, finish), [null, '[DONE]']])
  },
}
