// The link as the engine calls it while it is on: what the seat of the daemon hands over to.
import { existsSync } from 'node:fs'
import type { LinkRoute } from '../engine/link.ts'
import type { Caller, Mail } from '../engine/mail.ts'
import type { AccountRow, MessageRow, Recipient } from '../store/rows.ts'
import { type AddressInput, toAddress } from '../wire/address.ts'
import type { AdminAnswer, AdminRequest } from '../wire/admin.ts'
import type { ChatAnswer, ChatCommand, ChatRequest } from '../wire/chat.ts'
import type { Receipt } from '../wire/letter.ts'
import { Refusal } from '../wire/refusal.ts'
import { rfc3339 } from '../wire/time.ts'
import { addPeer, allowPeer, identityOf, pendingOf, removePeer, rotatePeer, statusOf } from './administer.ts'
import { Link, type LinkLog } from './link.ts'
import { machineOf } from './mail/remotes.ts'
import { setUp, tearDown } from './setup.ts'
import type { Environment } from './vault/holders.ts'
import { Vault, vaultPath } from './vault/vault.ts'

export class LinkHost {
  #link: Link | null = null
  /** Why there is none although it was set up. */
  #fault: Refusal | null = null

  constructor(
    private readonly folder: string,
    private readonly mail: Mail,
    private readonly env: Environment,
    private readonly log: LinkLog,
  ) {}

  /** Opens what is set up. A link that cannot be opened is told of, and leaves the mailbox running. */
  async open(): Promise<void> {
    if (!existsSync(vaultPath(this.folder))) return
    try {
      this.#link = await Link.open(this.folder, this.mail, Vault.open(this.folder, this.env), this.log)
      this.#fault = null
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      this.#fault = error instanceof Refusal ? error : new Refusal('link_off', `the link cannot be opened: ${message}`)
      this.log.warn('the link is down', { kind: this.#fault.kind, reason: this.#fault.message })
    }
  }

  async stop(): Promise<void> {
    await this.#link?.stop()
    this.#link = null
  }

  machine(name: string): string | null {
    if (this.#fault) throw this.#fault
    return this.#link?.peers.find(name)?.name ?? null
  }

  async prepare(to: readonly AddressInput[]): Promise<void> {
    for (const one of to) {
      const address = typeof one === 'string' && one.toLowerCase() === '@all' ? null : toAddress(one)
      if (!address || address.machine === undefined || !this.#link) continue
      const machine = this.machine(address.machine)
      if (machine !== null) await this.#link.remotes.prepare(address, machine)
    }
  }

  fate(message: MessageRow, to: Recipient): Receipt['remote'] | null {
    const account = this.mail.store.registry.accountById(to.account)
    if (account?.kind !== 'remote') return null
    const { outbox } = this.#link?.links ?? {}
    const refused = outbox?.refusal(message.id, to.box) ?? null
    if (refused !== null) return { state: 'refused', reason: refused }
    const fate = outbox?.fate(machineOf(account), message.id) ?? null
    if (fate === null)
      return this.mail.store.delivery(message.id, [to.box])?.closed === 1 ? { state: 'received' } : { state: 'queued' }
    // of what is a text in a room nobody says more than that it is there
    if (fate.received !== null && this.#isText(machineOf(account))) return { state: 'sent', at: rfc3339(fate.received) }
    if (fate.received !== null) return { state: 'received', at: rfc3339(fate.received) }
    if (fate.sent !== null) return { state: 'sent', at: rfc3339(fate.sent) }
    const reason = this.warning(account)
    return { state: 'queued', ...(reason === undefined ? {} : { reason }) }
  }

  #isText(machine: string): boolean {
    return this.#link?.peers.find(machine)?.person === true || this.#link?.chat.bindings.of(machine) != null
  }

  warning(account: AccountRow): string | undefined {
    if (this.#fault) return `the link is down: ${this.#fault.message}`
    const machine = machineOf(account)
    if (this.#link?.chat.bindings.of(machine)) {
      const reason = this.#link.chat.bindings.reason(machine) ?? this.#link.trouble
      return reason === null ? undefined : `waits for the Matrix room: ${reason}`
    }
    const peer = this.#link?.peers.find(machine)
    if (!this.#link || !peer) return `no machine ${machine} any more`
    const pin = this.#link.pins.get(peer.user)
    const reason = pin && !pin.ok ? pin.reason : (this.#link.lane(peer).reason ?? this.#link.trouble)
    return reason === null ? undefined : `waits for ${machine}: ${reason}`
  }

  async chat<C extends ChatCommand>(command: C, caller: Caller, request: ChatRequest<C>): Promise<ChatAnswer<C>> {
    return this.#on.chat.run(command, caller, request)
  }

  async administer<R extends LinkRoute>(route: R, request: AdminRequest<R>): Promise<AdminAnswer<R>> {
    return this.#routes[route](request)
  }

  readonly #routes: { [R in LinkRoute]: (request: AdminRequest<R>) => Promise<AdminAnswer<R>> } = {
    'link/setup': async (request) => {
      if (this.#link || this.#fault) throw new Refusal('link_exists', 'this mailbox has a link already')
      this.#link = await setUp(this.folder, this.mail, this.log, this.env, request)
      return identityOf(this.#link)
    },
    'link/status': async () => (this.#link ? statusOf(this.#link) : this.#downStatus()),
    'link/off': async () => {
      const link = this.#link
      this.#link = null
      this.#fault = null
      await tearDown(this.folder, this.env, link)
      for (const account of this.mail.store.registry.remotes()) await this.mail.store.removeAccount(account)
      return {}
    },
    'link/peer/add': (request) => this.#open(addPeer, request),
    'link/peer/allow': (request) => this.#open(allowPeer, request),
    'link/peer/rotate': (request) => this.#open(rotatePeer, request),
    'link/peer/remove': (request) => this.#open(removePeer, request),
    'link/bind': async ({ room, local }) => this.#on.chat.bind(room, local?.replace(/^#/, '') ?? null),
    'link/verify/start': (request) => this.#open((link, plan) => link.verifications.start(plan), request),
    'link/verify/list': async () => ({ verifications: this.#on.verifications.list() }),
    'link/verify/answer': (request) =>
      this.#open((link, { flow, same }) => link.verifications.answer(flow, same), request),
    'link/peer/pending': async () => pendingOf(this.#on),
  }

  #open<Q, A>(work: (link: Link, request: Q) => Promise<A>, request: Q): Promise<A> {
    return work(this.#on, request)
  }

  /** @throws Refusal `link_off`, or why it is down */
  get #on(): Link {
    if (this.#fault) throw this.#fault
    if (!this.#link) throw new Refusal('link_off', 'this mailbox is linked to no other machine')
    return this.#link
  }

  #downStatus(): AdminAnswer<'link/status'> {
    const reason = this.#fault ? `${this.#fault.kind}: ${this.#fault.message}` : null
    const state = this.#fault ? 'down' : 'off'
    return { state, reason, identity: null, last_sync: null, peers: [], undecryptable: [], quarantined: [] }
  }
}
