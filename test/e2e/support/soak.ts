// A whole day's work of a mailbox at once: letters, waits, doorbells, the page, searches, clients that come and go.
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { answer, Bell } from './bell.ts'
import type { Mailbox } from './mailbox.ts'
import { accepted, Wire } from './wire.ts'

/** What the process holds, and how long a send takes, at one moment. Bytes, counts, milliseconds. */
export type Sample = { rss: number; descriptors: number; files: number; send: number }

const PAIRS = 6
const LETTERS = 20
const SLEEPERS = 20
const PAGES = 6

export class Soak implements AsyncDisposable {
  /** Letters that were acknowledged as stored, were then read, and were closed. */
  sent = 0
  read = 0
  woken = 0
  searches = 0
  events = 0
  cut = 0
  readonly #tokens = new Map<string, string>()
  readonly #jobs: Promise<void>[] = []
  readonly #ending = new AbortController()

  private constructor(
    readonly mailbox: Mailbox,
    readonly bell: Bell,
  ) {}

  static async start(mailbox: Mailbox): Promise<Soak> {
    const soak = new Soak(mailbox, await Bell.start(answer('200 OK')))
    const names = Array.from({ length: PAIRS }, (_, at) => [`from-${at}`, `box-${at}`]).flat()
    for (const name of [...names, 'sleeper', 'probe', 'drain']) soak.#tokens.set(name, await mailbox.account(name))
    await mailbox.admin('listener', { account: 'box-0', url: soak.bell.url })
    for (let at = 0; at < PAIRS; at++) soak.#work(() => soak.#exchange(at))
    for (let at = 0; at < SLEEPERS; at++) soak.#work(() => soak.#sleep())
    for (let at = 0; at < PAGES; at++) soak.#work(() => soak.#page(at))
    soak.#work(() => soak.#look())
    soak.#work(() => soak.#comeAndGo())
    return soak
  }

  get bells(): number {
    return this.bell.rings.length
  }

  /** Makes what is closed a hundred days old, and lets the mailbox remove it; how many messages went. */
  async age(): Promise<number> {
    const { Database } = await import('bun:sqlite')
    const db = new Database(join(this.mailbox.data, 'mail.sqlite'))
    db.run('PRAGMA busy_timeout = 20000')
    db.run('UPDATE delivery SET closed_at = closed_at - 8640000000 WHERE closed_at > ?', [Date.now() - 3_600_000])
    db.run('UPDATE message SET created = created - 8640000000 WHERE created > ?', [Date.now() - 3_600_000])
    db.close()
    return Number((await this.mailbox.admin('retention', { run: true })).messages)
  }

  /** Connections that the process holds. Other descriptors are its store and the processes that it has looked at. */
  sockets(): number {
    const folder = `/proc/${this.mailbox.daemon.pid}/fd`
    return readdirSync(folder).filter((fd) => linkOf(join(folder, fd)).startsWith('socket:')).length
  }

  async sample(): Promise<Sample> {
    const { pid } = this.mailbox.daemon
    const line = await Wire.open(this.mailbox.port)
    const took: number[] = []
    for (let at = 0; at < 50; at++) {
      const began = performance.now()
      await this.#letter(line, 'probe', 'drain')
      took.push(performance.now() - began)
    }
    await this.#drain('drain', line)
    line.cut()
    const files = readdirSync(this.mailbox.data).filter((name) => /^(mail|search)\.sqlite(-wal)?$/.test(name))
    return {
      rss: Number(/VmRSS:\s+([0-9]+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024,
      descriptors: this.sockets(),
      files: files.reduce((sum, name) => sum + statSync(join(this.mailbox.data, name)).size, 0),
      send: took.sort((a, b) => a - b)[25] ?? Number.NaN,
    }
  }

  /** Ends the load; then every letter that was stored has to have been read. */
  async end(): Promise<{ lost: number }> {
    this.#ending.abort()
    await Promise.all(this.#jobs)
    const line = await Wire.open(this.mailbox.port)
    for (let at = 0; at < PAIRS; at++) await this.#drain(`box-${at}`, line)
    line.cut()
    return { lost: this.sent - this.read }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    await Promise.allSettled(this.#jobs)
    this.bell.stop()
  }

  #work(job: () => Promise<void>): void {
    this.#jobs.push(job())
  }

  #token = (account: string): string => this.#tokens.get(account) ?? ''

  #letter(line: Wire, from: string, to: string): Promise<unknown> {
    const letter = { to, subject: 'soak', body: `Nothing stays for ever. ${'words and words '.repeat(20)}` }
    return accepted(line.post('/mail/send', this.#token(from), letter))
  }

  /** Reads and closes all that waits; how many letters that were. */
  async #drain(box: string, line: Wire): Promise<number> {
    let count = 0
    for (;;) {
      const { messages } = await accepted(line.post('/mail/inbox', this.#token(box), { limit: 50 }))
      if (messages.length === 0) break
      const ids = messages.map(({ message_id }: { message_id: string }) => message_id)
      await accepted(line.post('/mail/ack', this.#token(box), { message_ids: ids }))
      count += ids.length
    }
    if (box.startsWith('box-')) this.read += count
    return count
  }

  async #exchange(at: number): Promise<void> {
    const line = await Wire.open(this.mailbox.port)
    while (!this.#ending.signal.aborted) {
      for (let n = 0; n < LETTERS; n++) {
        await this.#letter(line, `from-${at}`, `box-${at}`)
        this.sent++
      }
      if (at === 1) await this.#letter(line, `from-${at}`, 'sleeper')
      await this.#drain(`box-${at}`, line)
    }
    line.cut()
  }

  /** A reader that waits again whenever it is woken, and closes what it got; the first of its account to do so. */
  async #sleep(): Promise<void> {
    const line = await Wire.open(this.mailbox.port)
    while (!this.#ending.signal.aborted) {
      const { messages } = await accepted(line.post('/mail/inbox', this.#token('sleeper'), { wait_secs: 2 }))
      this.woken += messages.length > 0 ? 1 : 0
      for (const { message_id } of messages) await line.post('/mail/ack', this.#token('sleeper'), { message_id })
    }
    line.cut()
  }

  /** The stream of events, as the page and others hold it; half of the readers begin anew again and again. */
  async #page(at: number): Promise<void> {
    const token = at < 2 ? this.mailbox.operatorKey : this.#token(`box-${at}`)
    while (!this.#ending.signal.aborted) {
      const stop = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(at % 2 ? 1_000 : 20_000)])
      try {
        const answer = await fetch(`${this.mailbox.url}/events`, {
          headers: { authorization: `Bearer ${token}` },
          signal: stop,
        })
        for await (const _ of answer.body ?? []) this.events++
      } catch (error) {
        if (!stop.aborted) throw error
      }
    }
  }

  async #look(): Promise<void> {
    const line = await Wire.open(this.mailbox.port)
    while (!this.#ending.signal.aborted) {
      await accepted(line.post('/mail/search', this.#token('box-2'), { query: 'nothing words' }))
      await accepted(line.post('/admin/overview', this.mailbox.operatorKey, {}))
      this.searches++
      await Bun.sleep(100)
    }
    line.cut()
  }

  /** Clients that ask once and leave, and clients that are gone in the middle of a wait. */
  async #comeAndGo(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      const lines = await Wire.many(this.mailbox.port, 20)
      await Promise.all(lines.map((line) => accepted(line.post('/mail/whoami', this.#token('box-3'), {}))))
      for (const line of lines)
        line.post('/mail/inbox', this.#token('box-3'), { wait_secs: 60, cursor: null }).catch(() => {})
      await Bun.sleep(50)
      for (const line of lines) line.cut()
      this.cut += lines.length
      await Bun.sleep(200)
    }
  }
}

/** A descriptor may be closed while it is looked at. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
