// A model endpoint on loopback whose words the test speaks, so that real agent clients run without any account.

import type { Json } from './json.ts'
import { anthropicMessages } from './model/anthropic-messages.ts'
import { geminiStream, geminiWhole } from './model/gemini-content.ts'
import type { Dialect, Refused } from './model/model-api.ts'
import { openaiChat } from './model/openai-chat.ts'
import { openaiResponses } from './model/openai-responses.ts'
import { Script } from './model/script.ts'

export type ScriptedModel = {
  /** `http://127.0.0.1:PORT`, without `/v1`. */
  url: string
  /** The script of the agent whose API key is `key`, made on first use. */
  script(key: string): Script
  close(): Promise<void>
}

const DIALECTS: [string, Dialect][] = [
  ['/messages', anthropicMessages],
  ['/responses', openaiResponses],
  ['/chat/completions', openaiChat],
  [':streamGenerateContent', geminiStream],
  [':generateContent', geminiWhole],
]

/** Starts the endpoint on a free port of 127.0.0.1. */
export function startScriptedModel(): ScriptedModel {
  const scripts = new Map<string, Script>()
  const script = (key: string): Script => {
    const found = scripts.get(key) ?? new Script()
    scripts.set(key, found)
    return found
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    // A request waits for the test, which may drive other agents meanwhile: never cut it.
    idleTimeout: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname
      if (path.endsWith('/count_tokens')) return Response.json({ input_tokens: 1 })
      if (path.endsWith('/models')) return Response.json({ object: 'list', data: [], models: [] })
      const [, dialect] = DIALECTS.find(([suffix]) => path.endsWith(suffix)) ?? []
      if (!dialect || request.method !== 'POST') return Response.json({})
      const body: Json = await request.json()
      const key = keyOf(request)
      const asked = { api: path, key, body, ...dialect.read(body) }
      const reply = await script(key).take(asked, request.signal)
      return 'status' in reply ? refusal(reply) : dialect.write(body, reply)
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, script, close: () => server.stop(true) }
}

/** One body that every client reads: Anthropic's errors (type, error.type) and OpenAI's (error.code, error.type). */
function refusal({ status, type, message, headers = {} }: Refused): Response {
  return Response.json({ type: 'error', error: { type, code: type, message } }, { status, headers })
}

function keyOf(request: Request): string {
  const given = request.headers.get('x-api-key') ?? request.headers.get('x-goog-api-key')
  return given ?? request.headers.get('authorization')?.replace(/^bearer /i, '') ?? ''
}
