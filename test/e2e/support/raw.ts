// Bytes on a socket, for requests that no client library sends.
import { connect, type Socket } from 'node:net'

export class Raw {
  readonly #socket: Socket
  #text = ''
  #ended = false
  #changed: () => void = () => {}

  constructor(target: { port: number; host?: string } | { path: string }) {
    this.#socket = 'port' in target ? connect({ host: '127.0.0.1', ...target }) : connect(target)
    this.#socket.setEncoding('latin1')
    this.#socket.on('data', (text) => this.#change(() => (this.#text += text)))
    this.#socket.on('close', () => this.#change(() => (this.#ended = true)))
    this.#socket.on('error', () => {})
  }

  write(bytes: string | Uint8Array): void {
    if (!this.#ended) this.#socket.write(bytes)
  }

  /** Says that nothing more comes, and goes on reading. */
  finish(): void {
    this.#socket.end()
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Everything received once `enough` holds, the other end closes, or `ms` have passed. */
  async read(enough: (text: string) => boolean, ms = 10_000): Promise<{ text: string; closed: boolean }> {
    const until = performance.now() + ms
    while (!enough(this.#text) && !this.#ended && performance.now() < until) {
      const change = new Promise<void>((resolve) => (this.#changed = resolve))
      await Promise.race([change, Bun.sleep(Math.max(1, until - performance.now()))])
    }
    return { text: this.#text, closed: this.#ended }
  }

  #change(apply: () => void): void {
    apply()
    this.#changed()
  }
}

const HEAD_END = '\r\n\r\n'

/** Is there one whole answer with a content length? */
export function isWhole(text: string): boolean {
  const end = text.indexOf(HEAD_END)
  if (end < 0) return false
  const length = Number(/content-length: *(\d+)/i.exec(text.slice(0, end))?.[1] ?? 0)
  return text.length - end - HEAD_END.length >= length
}

/** Sends `bytes`, gives status and the refusal's kind of the first answer; status 0 where the connection just ends. */
export async function exchange(
  target: ConstructorParameters<typeof Raw>[0],
  bytes: string | Uint8Array,
  ms = 10_000,
): Promise<{ status: number; kind: string | null; text: string }> {
  const raw = new Raw(target)
  raw.write(bytes)
  const { text } = await raw.read(isWhole, ms)
  raw.close()
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0)
  const kind = /"kind":"([a-z_]+)"/.exec(text)?.[1] ?? null
  return { status, kind, text }
}
