// The typed client of the mailbox: what the CLI, the bridge and the tests call it with.
import type { IncomingMessage } from 'node:http'
import type { AdminAnswer, AdminRequest, AdminRoute } from '../wire/admin.ts'
import type { ChatAnswer, ChatCommand, ChatRequest } from '../wire/chat.ts'
import { LIMITS } from '../wire/limits.ts'
import { LOOK_HEADER } from '../wire/look.ts'
import type { AnswerOf, OperationName, RequestOf } from '../wire/operations.ts'
import { Refusal } from '../wire/refusal.ts'
import type { UiAnswer, UiRequest, UiRoute } from '../wire/ui.ts'
import { type Event, readEvents } from './events.ts'
import type { Target } from './target.ts'
import { Transport } from './transport.ts'

export type { Event } from './events.ts'
export { DEFAULT_BASE, type Target } from './target.ts'

/** `looks`: what it asks is no sign of life of its account, where the mailbox heeds that (wire/look.ts). */
export type ClientOptions = Target & { readonly token: string; readonly looks?: boolean }
export type CallOptions = {
  /** Milliseconds; by default longer than the wait that the request asks for. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** What GET /health says, also of a mailbox that cannot prove its callers or write its store (`ok` is false then). */
export type Health = {
  ok: boolean
  service: string
  version: string
  started_at: string
  uptime_secs: number
  attestation: { ok: boolean; reason?: string }
  /** Missing at a mailbox of 0.1.0. */
  store?: { ok: boolean; reason?: string }
  /** Desktop notifications that failed since the start. */
  notifications?: { failed: number }
  listening: string[]
  unavailable: { address: string; reason: string }[]
}

const ANSWER_MS = 30_000

/**
 * Calls one mailbox as the account of `token`. Every method rejects with a Refusal: that of the mailbox, or
 * `daemon_unreachable`; and with the signal's reason when that aborts.
 */
export class MailClient {
  readonly #transport: Transport
  readonly #token: string
  readonly #looks: boolean

  /** @throws Refusal `usage` for a base that is not loopback */
  constructor({ token, looks = false, ...target }: ClientOptions) {
    this.#transport = new Transport(target)
    this.#token = token
    this.#looks = looks
  }

  call<N extends OperationName>(name: N, request: RequestOf<N>, options?: CallOptions): Promise<AnswerOf<N>> {
    const repeatable = name !== 'send' || ('idempotency_key' in request && typeof request.idempotency_key === 'string')
    return this.#post(`/mail/${name}`, request, repeatable, options)
  }

  admin<R extends AdminRoute>(route: R, request: AdminRequest<R>, options?: CallOptions): Promise<AdminAnswer<R>> {
    return this.#post(`/admin/${route}`, request, false, options)
  }

  /** Matrix rooms. What is sent with an idempotency_key may be asked again. */
  chat<C extends ChatCommand>(command: C, request: ChatRequest<C>, options?: CallOptions): Promise<ChatAnswer<C>> {
    return this.#post(`/chat/${command}`, request, false, options)
  }

  /** Logins of the web page. */
  ui<R extends UiRoute>(route: R, request: UiRequest<R>, options?: CallOptions): Promise<UiAnswer<R>> {
    return this.#post(`/ui/${route}`, request, false, options)
  }

  /**
   * One JSON-RPC message or batch, as text, to /mcp. HTTP errors of the MCP door are answers here.
   * @returns status and body text; an empty body for notifications
   */
  async mcp(
    body: string,
    headers: Record<string, string> = {},
    options: CallOptions = {},
  ): Promise<{ status: number; text: string }> {
    const own = { ...this.#headers(), 'content-type': 'application/json', accept: 'application/json' }
    const timeoutMs = options.timeoutMs ?? LIMITS.waitMcp * 1000 + ANSWER_MS
    const answer = await this.#transport.send({
      method: 'POST',
      path: '/mcp',
      headers: { ...headers, ...own },
      body,
      timeoutMs,
      signal: options.signal,
      repeatable: false,
    })
    return { status: answer.statusCode ?? 0, text: await textOf(answer) }
  }

  /**
   * What happens to mail and dispatches that the caller may see, after `cursor` or from now on; ends when the mailbox stops. The first event
   * is the position where that begins, so that whoever is cut off before anything happened can go on from there.
   */
  async *events(cursor: string | null = null, signal?: AbortSignal): AsyncGenerator<Event> {
    const resume: Record<string, string> = cursor === null ? {} : { 'last-event-id': cursor }
    const answer = await this.#get('/events', { ...this.#headers(), ...resume }, { signal })
    if (answer.statusCode !== 200) throw refusalOf(answer, await textOf(answer))
    try {
      yield* readEvents(answer)
    } catch (error) {
      if (!signal?.aborted) throw cutOff(error)
    } finally {
      answer.destroy()
    }
  }

  /** Needs no token, and sends none. */
  async health(options: CallOptions = {}): Promise<Health> {
    const answer = await this.#get('/health', {}, options)
    const text = await textOf(answer)
    const body = parsed(text)
    if (isHealth(body)) return body
    throw refusalOf(answer, text)
  }

  /** Any other GET, as text: /openapi.json, /metrics. */
  async text(path: string, options: CallOptions = {}): Promise<string> {
    const answer = await this.#get(path, this.#headers(), options)
    const text = await textOf(answer)
    if (answer.statusCode !== 200) throw refusalOf(answer, text)
    return text
  }

  /** Closes kept connections. */
  close(): void {
    this.#transport.close()
  }

  async #post<A>(path: string, request: object, repeatable: boolean, options: CallOptions = {}): Promise<A> {
    const wait = 'wait_secs' in request && typeof request.wait_secs === 'number' ? request.wait_secs : 0
    const answer = await this.#transport.send({
      method: 'POST',
      path,
      headers: { ...this.#headers(), 'content-type': 'application/json' },
      body: JSON.stringify(request),
      timeoutMs: options.timeoutMs ?? Math.min(wait, LIMITS.waitHttp) * 1000 + ANSWER_MS,
      signal: options.signal,
      repeatable,
    })
    const text = await textOf(answer)
    const body = answer.statusCode === 200 ? parsed(text) : null
    if (typeof body !== 'object' || body === null) throw refusalOf(answer, text)
    return body as A // what the mailbox answers, the contract says
  }

  #get(
    path: string,
    headers: Record<string, string>,
    options: { timeoutMs?: number; signal?: AbortSignal | undefined },
  ) {
    const timeoutMs = options.timeoutMs ?? ANSWER_MS
    return this.#transport.send({
      method: 'GET',
      path,
      headers,
      body: undefined,
      timeoutMs,
      signal: options.signal,
      repeatable: true,
    })
  }

  #headers = (): Record<string, string> => ({
    authorization: `Bearer ${this.#token}`,
    ...(this.#looks ? { [LOOK_HEADER]: '1' } : {}),
  })
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Uint8Array[] = []
  try {
    for await (const part of answer) parts.push(part)
  } catch (error) {
    throw cutOff(error)
  }
  return Buffer.concat(parts).toString('utf8')
}

const cutOff = (error: unknown): Refusal =>
  new Refusal('daemon_unreachable', `the answer was cut off (${error instanceof Error ? error.message : ''})`)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The mailbox's own refusal; whatever else answers there is not the mailbox. */
function refusalOf(answer: IncomingMessage, text: string): Refusal {
  const refusal = Refusal.from(parsed(text))
  return (
    refusal ??
    new Refusal('daemon_unreachable', `something else answers there (status ${answer.statusCode})`, { foreign: true })
  )
}

const isHealth = (body: unknown): body is Health =>
  typeof body === 'object' && body !== null && 'service' in body && body.service === 'mail4agent'
