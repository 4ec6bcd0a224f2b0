// A homeserver between the mailbox and the real one that drops, repeats, reorders and redacts events and answers garbage.

const chance = (percent: number) => Math.random() * 100 < percent

export class HostileHomeserver {
  readonly #server
  /** Off: it passes everything on as it is. */
  hostile = false
  /** What it did, by name. */
  readonly done = new Map<string, number>()

  constructor(private readonly real: string) {
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 120,
      fetch: (request) => this.#pass(request),
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }

  stop(): void {
    this.#server.stop(true)
  }

  #did(what: string): void {
    this.done.set(what, (this.done.get(what) ?? 0) + 1)
  }

  async #pass(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url)
    const { method } = request
    const isSend = method === 'PUT' && pathname.includes('/send/')
    if (this.hostile) {
      const lie = this.#lie(isSend)
      if (lie) return lie
    }
    const headers = new Headers(request.headers)
    headers.delete('host')
    const body = method === 'GET' ? null : await request.text()
    const answer = await fetch(this.real + pathname + search, { method, headers, ...(body === null ? {} : { body }) })
    const text = await answer.text()
    if (!this.hostile || !pathname.endsWith('/sync') || !answer.ok)
      return new Response(text, { status: answer.status, headers: { 'content-type': 'application/json' } })
    return Response.json(this.#bend(JSON.parse(text)))
  }

  #lie(isSend: boolean): Response | null {
    if (chance(5)) {
      this.#did('garbage')
      return new Response('<html>not json', { status: 200 })
    }
    if (chance(5)) {
      this.#did('limited')
      return Response.json({ errcode: 'M_LIMIT_EXCEEDED', error: 'slow', retry_after_ms: 150 }, { status: 429 })
    }
    if (chance(5)) {
      this.#did('failed')
      return Response.json({ errcode: 'M_UNKNOWN', error: 'no' }, { status: 502 })
    }
    if (isSend && chance(10)) {
      this.#did('dropped')
      return Response.json({ event_id: `$${crypto.randomUUID()}` })
    }
    return null
  }

  /** Timelines with events twice, in another order, redacted, and with things that are no events. */
  #bend(sync: Record<string, any>): object {
    for (const room of Object.values<any>(sync.rooms?.join ?? {})) {
      const events: any[] = room.timeline?.events ?? []
      if (events.length > 1 && chance(40)) {
        this.#did('reordered')
        events.reverse()
      }
      const [first] = events
      if (first && chance(30)) {
        this.#did('repeated')
        events.push(first, { ...first, event_id: `$${crypto.randomUUID()}` })
      }
      const at = events.findIndex((event) => event.type === 'm.room.encrypted')
      if (at >= 0 && chance(10)) {
        this.#did('redacted')
        events[at] = { ...events[at], content: {}, unsigned: { redacted_because: {} } }
      }
      if (chance(30))
        events.push(null, 7, { type: 'm.room.member', state_key: 5 }, { type: 'm.room.name', content: [] })
    }
    if (chance(20))
      sync.to_device = { events: [...(sync.to_device?.events ?? []), { type: 'm.room.encrypted' }, 'odd'] }
    return sync
  }
}
