// The Gemini API's generateContent, whole and streamed, as Gemini CLI speaks it.
import { dig, type Json, list, text } from '../json.ts'
import { type Dialect, eventStream, type Reply } from './model-api.ts'

const part = (reply: Reply): Json =>
  'say' in reply ? { text: reply.say } : { functionCall: { id: reply.id, name: reply.tool.name, args: reply.args } }

const answer = (reply: Reply): Json => ({
  candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts: [part(reply)] } }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
})

const read: Dialect['read'] = (body) => ({
  tools: list(body, 'tools').flatMap((group) =>
    list(group, 'functionDeclarations').map((tool) => ({ name: text(tool, 'name') })),
  ),
  results: list(body, 'contents')
    .flatMap((content) => list(content, 'parts'))
    .flatMap((found) => {
      const result = dig(found, 'functionResponse')
      return result === undefined ? [] : [{ id: text(result, 'id'), text: text(result, 'response', 'output') }]
    }),
})

export const geminiWhole: Dialect = { read, write: (_, reply) => Response.json(answer(reply)) }
export const geminiStream: Dialect = { read, write: (_, reply) => eventStream([[null, answer(reply)]]) }
