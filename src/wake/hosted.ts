// A host that runs many agents, served as one: each agent of its folder has an account, and its routine is where mail wakes it.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addAccount } from '../engine/admin/accounts.ts'
import { newSecret } from '../engine/admin/secret.ts'
import type { Mail } from '../engine/mail.ts'
import { agentsIn, aliasesIn, DamagedRecord, type HostedAgent, sessionRecordsIn, skipIn } from './detect/agents.ts'
import { credentialOf, type Gateway, gatewayIn } from './gateway.ts'
import { postOnce } from './post.ts'
import { type Secrets, vaultFault } from './secrets.ts'
import { webhookHeaders } from './webhook-headers.ts'

type Env = Readonly<Record<string, string | undefined>>
type Log = (what: string, facts: Record<string, string | number | null>) => void
type Routine = { url: string; key: string }

export class Hosted {
  readonly #env: Env
  readonly #log: Log
  /** Nick → its routine. In memory alone. */
  readonly #routines = new Map<string, Routine>()
  readonly #stop = new AbortController()
  #timer: Timer | undefined
  #scanning: Promise<void> | null = null

  constructor(
    readonly mail: Mail,
    env: Env,
    log: Log,
    private readonly secrets: Secrets,
  ) {
    this.#env = env
    this.#log = log
  }

  /** The routine of an account of this host; null where it has none that is ready. */
  routine = (account: string): Routine | null => this.#routines.get(account) ?? null

  start(): void {
    if (!this.#env.M4A_AGENTS_DIR && !this.#env.M4A_SESSIONS_DIR) return
    void this.scan()
    const every = Number(this.#env.M4A_AGENT_RESCAN_SECS ?? 60)
    if (Number.isFinite(every) && every > 0) this.#timer = setInterval(() => void this.scan(), every * 1_000)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#stop.abort()
  }

  /** One look at the agents and their routines; two at once are one. */
  scan(): Promise<void> {
    this.#scanning ??= this.#scanOnce()
      .catch((error) => this.#log('the agents of this host cannot be read', { why: whyOf(error) }))
      .finally(() => {
        this.#scanning = null
      })
    return this.#scanning
  }

  async #scanOnce(): Promise<void> {
    const agents = this.#agents()
    for (const agent of agents) await this.#account(agent)
    const gateway = this.#gateway()
    if (gateway === null) return
    for (const agent of agents) await this.#ask(gateway, agent)
  }

  /** The vault goes first; where it does not open, nobody is asked. */
  #gateway(): Gateway | null {
    const { M4A_GATEWAY_FILE: file } = this.#env
    try {
      return this.secrets.gateway() ?? (file ? gatewayIn(file) : null)
    } catch (error) {
      this.#log('the gateway is not asked', { why: vaultFault(error) })
      return null
    }
  }

  #agents(): HostedAgent[] {
    const { M4A_AGENTS_DIR: folder, M4A_SESSIONS_DIR: records, M4A_SESSION_IDS: ids, M4A_SKIP_NICKS: skip } = this.#env
    if (folder) return agentsIn(folder, { aliases: aliasesIn(ids), skip: skipIn(skip) })
    return records ? sessionRecordsIn(records).filter(({ nick }) => !skipIn(skip).has(nick)) : []
  }

  /** Its account, made where there is none; the secret lies where all secrets lie. */
  async #account({ nick, displayName }: HostedAgent): Promise<void> {
    if (this.mail.store.registry.account(nick)) return
    const secret = newSecret()
    const folder = join(this.mail.dataDir, 'tokens')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const pending = join(folder, `.${crypto.randomUUID()}`)
    writeFileSync(pending, `${secret}\n`, { mode: 0o600, flag: 'wx', flush: true })
    try {
      await addAccount(this.mail, {
        id: nick,
        label: displayName.slice(0, 100),
        digest: Bun.SHA256.hash(secret, 'hex'),
      })
      renameSync(pending, join(folder, nick))
      this.#log('made an account for an agent of this host', { account: nick })
    } finally {
      rmSync(pending, { force: true })
    }
  }

  async #ask(gateway: Gateway, { agent, nick }: HostedAgent): Promise<void> {
    const found = await credentialOf(gateway, agent, nick, this.#stop.signal)
    if (found.state !== 'ready') return
    const isNew = !this.#routines.has(nick)
    this.#routines.set(nick, { url: found.url, key: found.key })
    if (isNew) await this.#joined(nick)
  }

  /** The others are told once that somebody has come. */
  async #joined(nick: string): Promise<void> {
    const others = [...this.#routines].filter(([name]) => name !== nick)
    await Promise.all(
      others.map(([, { url, key }]) =>
        postOnce(
          { url, consent: true, headers: webhookHeaders(key) },
          { kind: 'peer_joined', nick, user_id: nick },
          this.#stop.signal,
        ),
      ),
    )
  }
}

const whyOf = (error: unknown): string => (error instanceof DamagedRecord ? error.message : 'a folder or a file fails')
