// The homeserver over fetch: one call, its errors by name, and how long to wait before the next try. Matrix CS v1.11.
import { Refusal } from '../../wire/refusal.ts'

/** An answer that is an error, or no answer: `wait` says after how many ms another try may help, null that none will. */
export class HomeserverError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly wait: number | null,
    /** The body of an answer that asks for authentication (UIA, Matrix CS §5.6). */
    readonly body: Json = {},
  ) {
    super(message)
  }
  toRefusal(): Refusal {
    return new Refusal('homeserver', `the homeserver answered: ${this.message}`, {
      errcode: this.code,
      status: this.status,
    })
  }
}

export type Json = { readonly [name: string]: unknown }
export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const CALL_MS = 60_000
/** Bytes of an answer: more is not read. */
const ANSWER_MOST = 100_000_000
const TRY_MS = 2_000

export class Homeserver {
  constructor(
    /** `https://host`, or http on loopback; without a path behind it. */
    readonly base: string,
    private token: string | null,
    private readonly signal: AbortSignal,
  ) {}

  use(token: string): void {
    this.token = token
  }

  /** @throws HomeserverError */
  async call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body: object | string | null = null,
    options: { query?: Record<string, string | number | null>; ms?: number; version?: 'v1' } = {},
  ): Promise<Json> {
    const url = new URL(`${this.base}/_matrix/client/${options.version ?? 'v3'}${path}`)
    for (const [name, value] of Object.entries(options.query ?? {}))
      if (value !== null) url.searchParams.set(name, String(value))
    const { status, text } = await this.#fetch(url, method, body, options.ms ?? CALL_MS)
    const answer = parse(text)
    if (status >= 200 && status < 300 && answer !== null) return answer
    throw errorOf(status, answer)
  }

  /** A GET that answers a list. @throws HomeserverError */
  async list(path: string): Promise<unknown[]> {
    const { status, text } = await this.#fetch(new URL(`${this.base}/_matrix/client/v3${path}`), 'GET', null, CALL_MS)
    const value = jsonIn(text)
    if (status === 200 && Array.isArray(value)) return value
    throw errorOf(status, parse(text))
  }

  async #fetch(url: URL, method: string, body: object | string | null, ms: number) {
    const headers: Record<string, string> = { 'content-type': 'application/json' }
    if (this.token !== null) headers.authorization = `Bearer ${this.token}`
    try {
      const response = await fetch(url, {
        method,
        headers,
        redirect: 'error', // the token goes to nobody else
        signal: AbortSignal.any([this.signal, AbortSignal.timeout(ms)]),
        ...(body === null ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const size = Number(response.headers.get('content-length') ?? 0)
      if (size > ANSWER_MOST) throw new Error('the answer is too large')
      return { status: response.status, text: await response.text() }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new HomeserverError(0, 'M4A_UNREACHABLE', `it cannot be reached (${reason})`, TRY_MS)
    }
  }
}

function parse(text: string): Json | null {
  const value = jsonIn(text)
  return isJson(value) ? value : null
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function errorOf(status: number, answer: Json | null): HomeserverError {
  const code = typeof answer?.errcode === 'string' ? answer.errcode : 'M4A_GARBAGE'
  const message = typeof answer?.error === 'string' ? answer.error : `an answer with status ${status} that is none`
  const asked = typeof answer?.retry_after_ms === 'number' ? answer.retry_after_ms : TRY_MS
  const again = status === 429 ? Math.min(Math.max(asked, 100), 300_000) : TRY_MS
  const hopeless = status >= 400 && status < 500 && status !== 429
  return new HomeserverError(status, code, message.slice(0, 300), hopeless ? null : again, answer ?? {})
}

/** Milliseconds before try number `tries` (from 1): twice as long each time, up to a minute, and not all at once. */
export const backOff = (tries: number): number =>
  Math.min(60_000, 500 * 2 ** Math.min(tries, 10)) * (0.5 + Math.random() / 2)

/**
 * The base of a homeserver from what a person wrote: `https://host`, or a server name, which is asked where its clients go.
 * Clear http is for this machine alone.
 * @throws Refusal `usage`, `homeserver`
 */
export async function discover(text: string, signal: AbortSignal): Promise<string> {
  if (!/^https?:\/\//.test(text)) return discoverName(text, signal)
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || url.username || url.search || url.hash)
    throw new Refusal('usage', 'the homeserver is no URL', {}, EXAMPLE)
  const local = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)
  if (url.protocol === 'http:' && !local)
    throw new Refusal('usage', 'the homeserver has to be https, or on this machine', {}, EXAMPLE)
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

const EXAMPLE = 'for example: --homeserver https://matrix.example.org'

/** Matrix CS §3.1, well-known discovery. */
async function discoverName(name: string, signal: AbortSignal): Promise<string> {
  if (!/^[A-Za-z0-9.-]+(:[0-9]+)?$/.test(name)) throw new Refusal('usage', 'the homeserver is no URL', {}, EXAMPLE)
  try {
    const options = { signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]) }
    const answer: unknown = await (await fetch(`https://${name}/.well-known/matrix/client`, options)).json()
    const home = isJson(answer) ? answer['m.homeserver'] : null
    if (isJson(home) && typeof home.base_url === 'string') return discover(home.base_url, signal)
  } catch (error) {
    if (error instanceof Refusal) throw error
  }
  return `https://${name}`
}
