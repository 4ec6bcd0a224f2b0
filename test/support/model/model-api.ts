// What every model API has in common: what a client asked, what the model answers, and the two directions of a dialect.
import { dig, type Json, list, strings } from '../json.ts'

/** A tool that the client offers. `namespace` is set where the API groups tools (OpenAI Responses). */
export type Tool = { name: string; namespace?: string }

/** What a tool call of ours gave, as the client reports it to the model. */
export type ToolResult = { id: string; text: string }

/** One request of a client: who (its API key), what it offers, and the results that it has so far. */
export type Asked = { api: string; key: string; tools: Tool[]; results: ToolResult[]; body: Json }

/** One answer of the model: a text, which ends the turn, or one tool call. */
export type Reply = { say: string } | { id: string; tool: Tool; args: Json }

/** What a provider answers instead: an HTTP status and its own words, with further headers. */
export type Refused = { status: number; type: string; message: string; headers?: Record<string, string> }

/** One model API: reads its requests, writes its answers (streamed where the request says so). */
export type Dialect = {
  read(body: Json): Pick<Asked, 'tools' | 'results'>
  write(body: Json, reply: Reply): Response
}

/** An event stream of `[event name or null, data]`, complete at once: clients read it as if it had trickled. */
export function eventStream(events: [string | null, Json][]): Response {
  const lines = events.map(([name, data]) => {
    const event = name === null ? '' : `event: ${name}\n`
    return `${event}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
  })
  return new Response(lines.join(''), { headers: { 'content-type': 'text/event-stream' } })
}

/** The text of a tool result: a string as it is, else its text parts (their `type` members are no text). */
export function contentText(content: Json | undefined): string {
  if (typeof content === 'string') return content
  return list(content)
    .flatMap((part) => strings(dig(part, 'text')))
    .join('\n')
}
