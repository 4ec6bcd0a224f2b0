// A wait that is longer than the door holds one: the bridge repeats it, so that one call of an agent may wait for an hour.
import { setTimeout as sleep } from 'node:timers/promises'
import { LIMITS } from '../../wire/limits.ts'
import { metaOf } from './era.ts'
import { isRecord, type RpcRequest } from './rpc.ts'

const PROGRESS_MS = 5_000
const RETRY_MS = 1_000
/** A wait that ran to its end may be told a little short. */
const SLACK_SECONDS = 0.5
/** The mailbox is away for a moment: a restart is no reason to end a wait. */
const PASSING: readonly unknown[] = ['daemon_unreachable', 'shutting_down', 'busy']

/** How many seconds `request` wants to wait for mail; 0 for any other request. */
export function waitOf({ method, params }: RpcRequest): number {
  if (method !== 'tools/call' || params.name !== 'm4a_mail_inbox' || !isRecord(params.arguments)) return 0
  const seconds = params.arguments.wait_secs
  return typeof seconds === 'number' && seconds > 0 ? seconds : 0
}

/**
 * Sends the wait in slices that the door holds, until mail ends one, or `seconds` have passed. Tells progress where the
 * request has a progressToken. `send` answers the text of a JSON-RPC answer. Rejects when `signal` aborts.
 */
export async function hold(
  request: RpcRequest,
  seconds: number,
  send: (request: RpcRequest) => Promise<string>,
  notify: (text: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const begun = performance.now()
  const waited = () => (performance.now() - begun) / 1000
  const ticking = progress(request, seconds, waited, notify)
  try {
    for (;;) {
      const slice = Math.min(LIMITS.waitMcp, Math.max(1, Math.ceil(seconds - waited())))
      const text = await send(withWait(request, slice))
      const last = waited() >= seconds - SLACK_SECONDS
      const outcome = outcomeOf(text, slice)
      if (outcome === 'ended' || last) return withWaited(text, waited())
      if (outcome === 'away') await sleep(RETRY_MS, undefined, { signal })
    }
  } finally {
    clearInterval(ticking)
  }
}

const withWait = (request: RpcRequest, wait_secs: number): RpcRequest => ({
  ...request,
  params: { ...request.params, arguments: { ...Object(request.params.arguments), wait_secs } },
})

/** MCP, progress: only where the request brought a token, and rising. */
function progress(request: RpcRequest, total: number, waited: () => number, notify: (text: string) => void) {
  const { progressToken } = metaOf(request.params)
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return undefined
  return setInterval(() => {
    const params = {
      progressToken,
      progress: Math.min(total, Math.round(waited())),
      total,
      message: 'waiting for mail',
    }
    notify(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params }))
  }, PROGRESS_MS)
}

function answerIn(text: string): { isError: boolean; answer: Record<string, unknown> } | null {
  const { result }: { result?: unknown } = JSON.parse(text)
  if (!isRecord(result) || !isRecord(result.structuredContent)) return null
  return { isError: result.isError === true, answer: result.structuredContent }
}

/** `quiet`: the slice ran to its end without mail. `away`: the mailbox is stopping, or not there. */
function outcomeOf(text: string, slice: number): 'ended' | 'quiet' | 'away' {
  const told = answerIn(text)
  if (!told) return 'ended'
  const { kind, messages, waited_secs } = told.answer
  if (told.isError) return PASSING.includes(kind) ? 'away' : 'ended'
  if (!Array.isArray(messages) || messages.length > 0) return 'ended'
  return typeof waited_secs === 'number' && waited_secs >= slice - SLACK_SECONDS ? 'quiet' : 'away'
}

/** The answer says how long the whole wait was, not its last slice. */
function withWaited(text: string, seconds: number): string {
  const told = answerIn(text)
  if (!told || told.isError) return text
  const answer = { ...told.answer, waited_secs: Math.round(seconds * 1000) / 1000 }
  const whole: { result: object } = JSON.parse(text)
  const content = [{ type: 'text', text: JSON.stringify(answer) }]
  return JSON.stringify({ ...whole, result: { ...whole.result, content, structuredContent: answer } })
}
