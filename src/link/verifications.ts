// Comparisons with other devices that are under way, who asked for them, and the pin that one leaves behind.
import type { AdminRequest } from '../wire/admin.ts'
import type { VerifyEntry } from '../wire/link.ts'
import { malformed, Refusal } from '../wire/refusal.ts'
import { addPeer } from './administer.ts'
import { Verification } from './crypto/verification.ts'
import type { Link } from './link.ts'
import { isJson } from './matrix/homeserver.ts'
import { createRoom, inRoom } from './matrix/transport.ts'
import { checkUser, type Pin } from './peers.ts'
import { checkPins, distrust } from './trust.ts'

type Plan = AdminRequest<'link/verify/start'>
type One = {
  readonly id: string
  readonly user: string
  /** What a person here wants of it; null for what only the other side has asked. */
  plan: Plan | null
  room: string | null
  /** We have made the room for it. */
  made: boolean
  /** Null until the other side is in the room. */
  verification: Verification | null
  /** Why it ended without a pin; `''` where it left one. */
  failed: string | null
}

/** Comparisons that are remembered: anybody who is known here can ask for one. */
const MOST = 20
const PREFIX = 'm.key.verification.'

export class Verifications {
  readonly #all = new Map<string, One>()

  constructor(private readonly link: Link) {}

  /** What /sync brought for this device. */
  async heed(events: readonly unknown[]): Promise<void> {
    const about = events.filter(isJson).filter(({ type }) => String(type).startsWith(PREFIX))
    for (const { type, sender, content } of about) {
      const flow = isJson(content) ? content.transaction_id : null
      if (type === `${PREFIX}request` && typeof sender === 'string' && typeof flow === 'string')
        await this.#asked(sender, flow, null)
    }
    if (about.length > 0) await this.advance()
  }

  /** What belongs to a comparison came in a room, encrypted. */
  async heedRoom(room: string, user: string, flow: string): Promise<void> {
    this.link.device.comparing.set(room, user)
    await this.#asked(user, flow, room)
    await this.advance()
  }

  /** Is somebody compared in that room, whether pinned or not? */
  isAbout(room: string, user: string): boolean {
    return [...this.#all.values()].some((one) => one.room === room && one.user === user)
  }

  /** Another device wants to be compared; a person here has to agree. */
  async #asked(user: string, flow: string, room: string | null): Promise<void> {
    const known = [...this.#all.values()].some(({ verification }) => verification?.id === flow)
    if (known || user === this.link.session.user) return
    const verification = await Verification.incoming(this.link.device, user, flow)
    if (verification) this.#keep({ user, plan: null, room, made: false, verification })
  }

  #keep(what: Omit<One, 'id' | 'failed'>): One {
    for (const { id, plan } of this.#all.values()) if (plan === null && this.#all.size >= MOST) this.#all.delete(id)
    const one: One = { ...what, id: crypto.randomUUID(), failed: null }
    this.#all.set(one.id, one)
    return one
  }

  list(): VerifyEntry[] {
    return [...this.#all.values()].map((one) => this.#view(one))
  }

  #view({ id, user, plan, verification, failed }: One): VerifyEntry {
    const look = verification?.look() ?? { stage: 'asked', device: null, emoji: [], decimals: [], reason: null }
    // before the pin is written it is not over
    const going = look.stage === 'done' ? 'confirmed' : look.stage
    return {
      flow: id,
      user,
      name: plan?.name ?? this.link.peers.byUser(user)?.name ?? null,
      device: look.device,
      stage: failed === null ? going : failed === '' ? 'done' : 'cancelled',
      emoji: look.emoji,
      decimals: look.decimals,
      reason: failed || look.reason,
    }
  }

  /**
   * Goes on with what that user has asked, else asks.
   * @throws Refusal `malformed`, `unknown_peer`, `name_taken`, `homeserver`
   */
  async start(plan: Plan): Promise<VerifyEntry> {
    const { link } = this
    const user = this.#userFor(plan)
    const waiting = [...this.#all.values()].find((one) => one.user === user && this.#view(one).stage === 'asks')
    if (waiting) {
      waiting.plan = plan
      await waiting.verification?.agree()
      return this.#view(waiting)
    }
    const between = link.rooms.between(link.session.user, user)
    const room = between ?? (await createRoom(link.homeserver, user))
    const one = this.#keep({ user, plan, room, made: between === null, verification: null })
    await this.advance()
    return this.#view(one)
  }

  #userFor({ name, user }: Plan): string {
    const { peers, session } = this.link
    const known = peers.find(name)
    if (user == null) return known?.user ?? peers.get(name).user
    if (checkUser(user) === session.user) throw malformed('user', 'is this machine itself')
    const taken = known ?? peers.byUser(user)
    if (taken && (taken.user !== user || taken !== known))
      throw new Refusal('name_taken', `${taken.user} is pinned as ${taken.name}`, { peer: taken.name })
    return user
  }

  /** What the person saw. @throws Refusal `malformed` where there is nothing to compare */
  async answer(flow: string, same: boolean): Promise<VerifyEntry> {
    const one = this.#all.get(flow)
    if (!one) throw malformed('flow', 'is no comparison that is known here')
    const comparing = this.#view(one).stage === 'compare'
    if (same && !comparing) throw malformed('flow', 'has nothing to compare now')
    if (comparing) await one.verification?.answer(same)
    else {
      await one.verification?.cancel()
      one.failed ??= 'a person here ended it'
    }
    await this.advance()
    return this.#view(one)
  }

  /** Does what is due in each. */
  async advance(): Promise<void> {
    for (const one of this.#all.values()) if (one.failed === null) await this.#advance(one)
  }

  async #advance(one: One): Promise<void> {
    if (!one.verification && !(await this.#begin(one))) return
    await one.verification?.advance()
    const look = one.verification?.look()
    if (look?.stage === 'done') one.failed = await this.#pin(one)
    if (look?.stage === 'cancelled') one.failed = look.reason ?? 'it was cancelled'
    if (one.failed && look?.mismatch) await this.#alarm(one.user, one.failed)
    if (one.failed && one.made && one.room !== null && !this.link.peers.byUser(one.user))
      await inRoom(this.link.homeserver, one.room, 'leave').catch(() => {}) // nothing is to be said there
  }

  /** Asks once the other side is in the room, and the room is seen to be encrypted. */
  async #begin(one: One): Promise<boolean> {
    const state = one.room === null ? null : this.link.rooms.get(one.room)
    if (one.room === null || !state?.encrypted || state.members[one.user] !== 'join') return false
    one.verification = await Verification.ask(this.link.device, one.user, one.room)
    return true
  }

  async #alarm(user: string, why: string): Promise<void> {
    const { link } = this
    const peer = link.peers.byUser(user)
    link.log.warn('two devices did not show the same: somebody may sit between', { user, peer: peer?.name ?? null })
    if (!peer) return
    distrust(link.links, user, `the comparison of the devices failed: ${why}`)
    await checkPins(link)
  }

  async #pin({ user, verification, plan, room }: One): Promise<string> {
    const { link } = this
    const proved = (await verification?.proved()) ?? null
    if (!proved || !plan) return 'the keys of that device are not those that were compared'
    const known = link.peers.byUser(user)
    const by = (plan.master ?? known?.pin.by === 'master') ? 'master' : 'device'
    const key = by === 'master' ? proved.master : proved.fingerprint
    if (key === null) return 'that client did not prove the key of its account; verify without --master'
    const pin: Pin = { by, key }
    if (known) {
      link.peers.put({ ...known, pin })
      await link.pinned(link.peers.get(known.name))
      return ''
    }
    await addPeer(link, { ...plan, user, fingerprint: key, master: by === 'master' })
    if (room !== null) link.links.setRoom(plan.name, room)
    return ''
  }
}
