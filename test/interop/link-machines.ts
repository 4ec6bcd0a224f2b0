// Two machines that are linked over one homeserver: mailboxes as processes of their own, paired by their lines.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Actor } from '../e2e/support/actor.ts'
import { BINARY, Mailbox } from '../e2e/support/mailbox.ts'
import type { Synapse } from '../support/synapse.ts'

export type Answer = Record<string, any>

export class Machine {
  private constructor(
    readonly box: Mailbox,
    readonly agent: Actor,
    readonly account: string,
    readonly user: string,
    readonly token: string,
  ) {}

  /** A mailbox with one account and a login at the homeserver. */
  static async start(
    synapse: Synapse,
    user: string,
    account: string,
    { exists = false, homeserver = synapse.url } = {},
  ): Promise<Machine> {
    const box = await Mailbox.start()
    if (!exists) await synapse.user(user, `pw-${user}-0123456789`)
    const secret = await box.account(account)
    const machine = new Machine(box, await box.actor(secret), account, user, secret)
    const request = { homeserver, way: 'password', user, secret: `pw-${user}-0123456789` }
    await box.admin('link/setup', request)
    return machine
  }

  async status(): Promise<Answer> {
    return this.box.admin('link/status', {})
  }

  async peer(name: string): Promise<Answer> {
    return (await this.status()).peers.find((peer: Answer) => peer.name === name)
  }

  async pin(name: string, other: Machine, allow: object): Promise<Answer> {
    const { user, fingerprint } = (await other.status()).identity
    return this.box.admin('link/peer/add', { name, user, fingerprint, ...allow })
  }

  /** What a command of ours prints as JSON, run as the operator. */
  async cli(argv: string[], input = ''): Promise<{ code: number; out: string; err: string }> {
    const child = Bun.spawn([BINARY, ...argv, '--data-dir', this.box.data], {
      env: { PATH: process.env.PATH ?? '', HOME: this.box.root, M4A_RECOGNISED_AGENTS: '' },
      stdin: new Blob([input]),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { code: await child.exited, out, err }
  }

  send(to: string, subject: string, body: string, more: object = {}): Promise<Answer> {
    return this.agent.ask('http', 'send', { to, subject, body, ...more })
  }

  /** Everything in the inbox, closed or not, oldest first. */
  async inbox(): Promise<Answer[]> {
    const all: Answer[] = []
    for (let cursor: string | null = null; ; ) {
      const page = await this.agent.ask('http', 'inbox', { state: 'all', limit: 256, cursor, max_bytes: 1_000_000 })
      all.push(...page.messages)
      if (!page.has_more) return all
      cursor = page.cursor
    }
  }

  async receipt(id: string): Promise<Answer> {
    const answer = await this.agent.ask('http', 'receipts', { message_id: id })
    return answer.receipts[0].deliveries[0]
  }

  file(name: string, content: string): string {
    const path = join(this.box.root, name)
    writeFileSync(path, content, { mode: 0o600 })
    return path
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.box[Symbol.asyncDispose]()
  }
}

/** Polls until `test` gives something; real servers tell in their own time. */
export async function until<T>(
  what: string,
  test: () => Promise<T | null | undefined | false>,
  ms = 30_000,
): Promise<T> {
  for (const end = Date.now() + ms; ; ) {
    const found = await test().catch(() => null)
    if (found) return found
    if (Date.now() > end) throw new Error(`in vain: ${what}`)
    await Bun.sleep(100)
  }
}
