// The seat of the link: empty, and then nothing of it is loaded, until the mailbox has one or an operator sets one up.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type LinkSeat, someRemote } from '../engine/link.ts'
import type { Caller, Mail } from '../engine/mail.ts'
import type { LinkHost } from '../link/seat.ts'
import type { ChatAnswer, ChatCommand, ChatRequest } from '../wire/chat.ts'
import { Refusal } from '../wire/refusal.ts'
import type { Log } from './log.ts'

export class Seat implements LinkSeat {
  #host: LinkHost | null = null
  #mail: Mail | null = null
  readonly #folder
  readonly #log

  constructor(dataDir: string, log: Log) {
    this.#folder = join(dataDir, 'link')
    this.#log = log
  }

  /** Opens the link where one is set up. */
  async open(mail: Mail): Promise<void> {
    this.#mail = mail
    if (existsSync(join(this.#folder, 'vault.json'))) await (await this.#load()).open()
  }

  async stop(): Promise<void> {
    await this.#host?.stop()
    this.#host = null
  }

  machine(name: string): string | null {
    return this.#host?.machine(name) ?? null
  }

  async prepare(to: Parameters<LinkSeat['prepare']>[0]): Promise<void> {
    if (this.#host && someRemote(to)) await this.#host.prepare(to)
  }

  fate(...of: Parameters<LinkSeat['fate']>): ReturnType<LinkSeat['fate']> {
    return this.#host?.fate(...of) ?? null
  }

  warning(account: Parameters<LinkSeat['warning']>[0]): string | undefined {
    return this.#host ? this.#host.warning(account) : 'this mailbox is linked to no other machine'
  }

  async status(): ReturnType<LinkSeat['status']> {
    return this.#host ? this.#host.administer('link/status', {}) : null
  }

  async chat<C extends ChatCommand>(command: C, caller: Caller, request: ChatRequest<C>): Promise<ChatAnswer<C>> {
    if (this.#host === null) throw new Refusal('link_off', 'this mailbox is linked to no homeserver')
    return this.#host.chat(command, caller, request)
  }

  administer: LinkSeat['administer'] = async (route, request) => {
    // only setup and status need no link; whether there is one is seen without loading it
    if (this.#host === null && route !== 'link/setup' && route !== 'link/status')
      throw new Refusal('link_off', 'this mailbox is linked to no other machine')
    return (await this.#load()).administer(route, request)
  }

  async #load(): Promise<LinkHost> {
    const { LinkHost } = await import('../link/seat.ts')
    if (!this.#mail) throw new Error('the link is asked before there is a mailbox')
    this.#host ??= new LinkHost(this.#folder, this.#mail, process.env, this.#log)
    return this.#host
  }
}
