// The stdio bridge: JSON-RPC lines in and out, each request forwarded to the daemon's /mcp. Its state is what is under way.

import { LIMITS } from '../../wire/limits.ts'
import { Refusal } from '../../wire/refusal.ts'
import { handleMcp } from './door.ts'
import { headersFor } from './headers.ts'
import { hold, waitOf } from './hold.ts'
import { CODE, errorText, type Id, type Message, RpcError, type RpcRequest, readMessage } from './rpc.ts'
import { type MailVisitor, mailTools } from './tools.ts'

export type BridgeOptions = {
  /** Standard input: JSON-RPC messages, one a line. */
  readonly input: AsyncIterable<Uint8Array>
  /** Writes one line, without its line feed, to standard output; throws when nobody reads there any more. */
  readonly write: (line: string) => void
  /**
   * POSTs `body` to /mcp with `headers` beside the usual ones and answers the text of the response, whatever its status.
   * Rejects with a Refusal when there is no answer, and when `signal` aborts, which must also end the request.
   */
  readonly forward: (body: string, headers: Record<string, string>, signal: AbortSignal) => Promise<string>
}

/** How long calls that do not wait may go on after the client has closed our input. */
const GRACE_MS = 2_000

/** Bytes: what the door takes, with room for its refusal to name what was too large; a longer line is not kept. */
const LONGEST_LINE = 8 * 1024 * 1024

/**
 * Serves until the input ends (MCP, stdio transport: shutdown), then lets short calls finish. Rejects with what `write` threw,
 * at once: a client that does not read has gone. Never rejects for the daemon.
 */
export async function runBridge(options: BridgeOptions): Promise<void> {
  const bridge = new Bridge(options)
  const serve = async () => {
    for await (const line of linesOf(options.input)) bridge.take(line)
    await bridge.finish()
  }
  await Promise.race([serve(), bridge.unheard])
}

class Bridge {
  readonly #running = new Map<Id, { abort: AbortController; waits: boolean }>()
  readonly #calls = new Set<Promise<void>>()
  readonly #unheard = Promise.withResolvers<never>()

  constructor(readonly options: BridgeOptions) {}

  /** Rejects when an answer could not be written. */
  get unheard(): Promise<never> {
    return this.#unheard.promise
  }

  /** One message, or null for a line that was too long; its answer is written when it is there. */
  take(line: Uint8Array | null): void {
    const call = this.#answer(line).then((text) => {
      if (text) this.#write(text)
      this.#calls.delete(call)
    })
    this.#calls.add(call)
  }

  async finish(): Promise<void> {
    for (const { abort, waits } of this.#running.values()) if (waits) abort.abort()
    await Promise.race([Promise.all(this.#calls), Bun.sleep(GRACE_MS)])
  }

  async #answer(line: Uint8Array | null): Promise<string | null> {
    if (line === null)
      return errorText(null, new RpcError(CODE.invalidRequest, `the line is longer than ${LONGEST_LINE} bytes`, 400))
    let text: string
    let message: Message
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(line)
      message = readMessage(JSON.parse(text))
    } catch {
      return errorText(null, new RpcError(CODE.parse, 'the line is not JSON in UTF-8', 400))
    }
    if (message.kind === 'request') return this.#run(message, text)
    // A batch, or something that the door knows how to refuse.
    if (message.kind === 'invalid') return this.#forward(text, {}, new AbortController().signal)
    this.#hear(message)
    return null
  }

  /** The one notification that means something to us; the daemon, without sessions, has no use for any. */
  #hear(message: Message): void {
    if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return
    const { requestId } = message.params
    if (typeof requestId === 'string' || typeof requestId === 'number') this.#running.get(requestId)?.abort.abort()
  }

  async #run(request: RpcRequest, line: string): Promise<string | null> {
    const abort = new AbortController()
    const waits = waitOf(request)
    this.#running.set(request.id, { abort, waits: waits > 0 })
    const headers = headersFor(request)
    const send = ({ id, method, params }: RpcRequest) =>
      this.#forward(JSON.stringify({ jsonrpc: '2.0', id, method, params }), headers, abort.signal)
    try {
      if (waits <= LIMITS.waitMcp) return await this.#forward(line, headers, abort.signal)
      return await hold(request, waits, send, (text) => this.#write(text), abort.signal)
    } catch (error) {
      // MCP, cancellation: a request that was cancelled is not answered.
      if (abort.signal.aborted) return null
      const reason = error instanceof Error ? error.message : 'no reason given'
      return errorText(request.id, new RpcError(CODE.internal, `the bridge failed: ${reason}`, 500))
    } finally {
      this.#running.delete(request.id)
    }
  }

  /** The daemon's answer; where it has none for us, the same door's with that refusal. Rejects only when aborted. */
  async #forward(body: string, headers: Record<string, string>, signal: AbortSignal): Promise<string> {
    let refusal: Refusal
    try {
      const text = await this.options.forward(body, headers, signal)
      signal.throwIfAborted()
      if (isRpc(text)) return text
      refusal = refusalIn(text)
    } catch (error) {
      signal.throwIfAborted()
      refusal = error instanceof Refusal ? error : new Refusal('daemon_unreachable', 'the mailbox gave no answer')
    }
    return this.#refuse(body, headers, refusal)
  }

  /** A client that is told no at `initialize` never comes back: it gets its tools, and each call says what is wrong. */
  async #refuse(body: string, headers: Record<string, string>, refusal: Refusal): Promise<string> {
    const visitor: MailVisitor = {
      greet: async () => {},
      perform: () => Promise.reject(refusal),
    }
    const request = new Request('http://localhost/mcp', { method: 'POST', headers, body })
    return (await handleMcp(request, mailTools, visitor)).text()
  }

  #write(text: string): void {
    try {
      this.options.write(text.includes('\n') ? JSON.stringify(JSON.parse(text)) : text)
    } catch (error) {
      this.#unheard.reject(error)
      for (const { abort } of this.#running.values()) abort.abort()
    }
  }
}

const isRpc = (text: string): boolean => text === '' || text.startsWith('{"jsonrpc"') || text.startsWith('[')

function refusalIn(text: string): Refusal {
  const other = new Refusal('daemon_unreachable', 'what answers there is no mailbox')
  try {
    return Refusal.from(JSON.parse(text)) ?? other
  } catch {
    return other
  }
}

/**
 * Split before decoding: a character may lie across two chunks, a line feed byte is never part of another character.
 * Null stands for a line that is too long, as soon as it is; the rest of it is dropped as it comes.
 */
export async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array | null> {
  let begun: Uint8Array[] = []
  let length = 0
  for await (const bytes of input) {
    for (let from = 0; from < bytes.length; ) {
      const at = bytes.indexOf(LF, from)
      const part = bytes.subarray(from, at < 0 ? bytes.length : at)
      const fitted = length <= LONGEST_LINE
      length += part.length
      if (length <= LONGEST_LINE) begun.push(at < 0 ? part.slice() : part)
      else if (fitted) {
        begun = []
        yield null
      }
      from += part.length
      if (at < 0) continue
      const line = Buffer.concat(begun)
      if (!isBlank(line)) yield line
      begun = []
      length = 0
      from++
    }
  }
  const last = Buffer.concat(begun)
  if (!isBlank(last)) yield last
}

const LF = 0x0a
const isBlank = (line: Uint8Array): boolean => line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)
