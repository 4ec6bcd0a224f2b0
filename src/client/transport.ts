// One HTTP exchange with the mailbox over a kept connection. node:http because it heeds no proxy variables; fetch does.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { Refusal } from '../wire/refusal.ts'
import { CheckedAgent } from './checked-agent.ts'
import { checkSocket, DEFAULT_BASE, loopback, type Target } from './target.ts'

export type Outgoing = {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body: string | undefined
  /** Milliseconds until the answer begins. */
  timeoutMs: number
  signal: AbortSignal | undefined
  /** Twice is the same as once. */
  repeatable: boolean
}

/** Connections to one mailbox. */
export class Transport {
  readonly #agent = new CheckedAgent({ keepAlive: true })
  readonly #target: Target
  readonly #tcp: { host: string; port: number } | null

  constructor(target: Target) {
    this.#target = target
    this.#tcp = target.socket === undefined ? loopback(target.base ?? DEFAULT_BASE) : null
  }

  /**
   * Sends a request; resolves when the head of the answer is there.
   * @throws Refusal `daemon_unreachable`, `bad_permissions`; the reason of `signal` when that aborted
   */
  async send(outgoing: Outgoing): Promise<IncomingMessage> {
    try {
      return await this.#exchange(outgoing)
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error
      // the kept connection was closed at the moment of use: a new one tells whether the mailbox still runs
      if (outgoing.repeatable) return this.#exchange(outgoing)
      throw new Refusal('daemon_unreachable', 'the mailbox closed the connection; whether it did it is not known')
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #exchange({ method, path, headers, body, timeoutMs, signal }: Outgoing): Promise<IncomingMessage> {
    const { socket } = this.#target
    if (socket !== undefined) checkSocket(socket)
    const where = socket === undefined ? this.#tcp : { socketPath: socket }
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const outgoing = httpRequest({
        ...where,
        agent: this.#agent,
        method,
        path,
        headers: { host: this.#host(), ...headers, ...length },
      })
      const leave = () => outgoing.destroy()
      const timer = setTimeout(
        () => outgoing.destroy(new Refusal('daemon_unreachable', 'no answer in time')),
        timeoutMs,
      )
      signal?.addEventListener('abort', leave, { once: true })
      outgoing.once('response', (answer) => {
        clearTimeout(timer)
        answer.once('close', () => signal?.removeEventListener('abort', leave))
        resolve(answer)
      })
      outgoing.once('error', (error) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', leave)
        reject(signal?.aborted ? signal.reason : this.#fault(error, outgoing.reusedSocket))
      })
      if (signal?.aborted) leave()
      outgoing.end(body)
    })
  }

  #host = (): string => {
    if (!this.#tcp) return 'localhost'
    const { host, port } = this.#tcp
    return host === '::1' ? `[::1]:${port}` : `${host}:${port}`
  }

  #fault(error: Error, reused: boolean): Error {
    if (error instanceof Refusal) return error
    const code = 'code' in error ? String(error.code) : error.message
    if (reused && (code === 'ECONNRESET' || code === 'EPIPE')) return new StaleConnection(code)
    // what is no error of the system is about what was said: it is no HTTP
    const isForeign = this.#tcp !== null && !/^E[A-Z]+$/.test(code)
    const facts = { ...this.#target, ...(isForeign ? { foreign: true } : {}) }
    return new Refusal('daemon_unreachable', `the mailbox does not answer (${code})`, facts)
  }
}

class StaleConnection extends Error {}
