// Two devices compared by people: short authentication strings, Matrix CS §11.12.2.2. Nothing is trusted before a person says that
// both sides show the same.
import type { CancelInfo, Sas, VerificationRequest } from '@matrix-org/matrix-sdk-crypto-wasm'
import { Refusal } from '../../wire/refusal.ts'
import type { Device, Inside, Outgoing } from './device.ts'
import { masterKey, userId } from './pins.ts'

/** `asked`: we wait for the other side; `asks`: it waits for us; `compare`: people look; `confirmed`: it has not said yes yet. */
export type Stage = 'asked' | 'asks' | 'exchanging' | 'compare' | 'confirmed' | 'done' | 'cancelled'
export type Look = {
  stage: Stage
  /** The other device, once it is known. */
  device: string | null
  emoji: { symbol: string; description: string }[]
  decimals: number[]
  /** Why it was cancelled. */
  reason: string | null
  /** The two sides did not have the same keys. */
  mismatch: boolean
}
/** What a finished comparison has proved; the key of the account where that client proved it. */
export type Proved = { fingerprint: string; master: string | null }

const MISMATCH = ['m.mismatched_sas', 'm.mismatched_commitment', 'm.key_mismatch']

export class Verification {
  /** A person here wants it. */
  #agreed
  #last: Sas | null = null

  private constructor(
    private readonly ours: Device,
    readonly user: string,
    private readonly request: VerificationRequest,
    agreed: boolean,
  ) {
    this.#agreed = agreed
  }

  get id(): string {
    return this.request.flowId
  }

  /** Asks that user in a room that both are in: Matrix CS §11.12.2.1. */
  static async ask(ours: Device, user: string, room: string): Promise<Verification> {
    await ours.query(user)
    ours.comparing.set(room, user)
    return ours.use(async ({ lib, machine, openly }) => {
      const identity = await machine.getIdentity(new lib.UserId(user))
      if (!identity || 'trustsOurOwnDevice' in identity)
        throw new Refusal('homeserver', 'that account has no keys of its own to be compared with')
      const methods = [lib.VerificationMethod.SasV1]
      const event = await openly(room, 'm.room.message', identity.verificationRequestContent(methods))
      const request = identity.requestVerification(new lib.RoomId(room), new lib.EventId(event), methods)
      return new Verification(ours, user, request, true)
    })
  }

  /** What another device has asked; null where that is over already. */
  static incoming(ours: Device, user: string, flow: string): Promise<Verification | null> {
    return ours.use(async ({ lib, machine }) => {
      const id = userId(lib, user)
      const request = id ? machine.getVerificationRequest(id, flow) : undefined
      return request && !request.isPassive() ? new Verification(ours, user, request, false) : null
    })
  }

  /** A person here goes on with what the other side has asked. */
  async agree(): Promise<void> {
    await this.ours.query(this.user) // its device may have been seen by nobody here
    this.#agreed = true
    await this.advance()
  }

  /** Does what is due on our side. */
  async advance(): Promise<void> {
    if (!this.#agreed) return
    await this.ours.use(async ({ lib, make, flush }) => {
      const { request } = this
      const due: (Outgoing | undefined)[] = []
      if (!request.weStarted() && request.phase() === lib.VerificationRequestPhase.Requested)
        due.push(request.acceptWithMethods([lib.VerificationMethod.SasV1]))
      // where both sides start, the crypto library settles which of the two counts
      if (request.isReady() && !this.#sas) due.push((await request.startSas())?.[1])
      const sas = this.#sas
      if (sas && !sas.weStarted() && !sas.hasBeenAccepted()) due.push(sas.accept())
      for (const one of due) if (one) await make(one)
      await flush()
    })
  }

  /** What the person saw: the same on both sides, or not. */
  async answer(same: boolean): Promise<void> {
    await this.ours.use(async ({ make, flush }) => {
      const sas = this.#sas
      if (same) for (const one of (await sas?.confirm()) ?? []) await make(one)
      else {
        const cancel = sas?.cancelWithCode('m.mismatched_sas')
        if (cancel) await make(cancel)
      }
      await flush()
    })
  }

  async cancel(): Promise<void> {
    await this.ours.use(async ({ make }) => {
      const cancel = this.request.cancel()
      if (cancel) await make(cancel)
    })
  }

  look(): Look {
    const { request } = this
    const sas = this.#sas
    const stop = request.cancelInfo ?? sas?.cancelInfo() ?? null
    const stage = this.#stage(sas, stop)
    const shown = stage === 'compare' || stage === 'confirmed'
    return {
      stage,
      device: (sas?.otherDeviceId ?? request.otherDeviceId)?.toString() ?? null,
      emoji: shown ? (sas?.emoji() ?? []).map(({ symbol, description }) => ({ symbol, description })) : [],
      decimals: shown ? [...(sas?.decimals() ?? [])] : [],
      reason: stage === 'cancelled' ? reasonOf(stop) : null,
      mismatch: stop !== null && MISMATCH.includes(stop.cancelCode()),
    }
  }

  #stage(sas: Sas | null, stop: CancelInfo | null): Stage {
    const { request } = this
    if (sas?.isDone() || request.isDone()) return 'done'
    if (stop || request.isCancelled() || request.timedOut() || sas?.isCancelled() || sas?.timedOut()) return 'cancelled'
    if (sas?.haveWeConfirmed()) return 'confirmed'
    if (sas?.canBePresented()) return 'compare'
    if (!this.#agreed) return 'asks'
    return request.weStarted() && !request.isReady() && !sas ? 'asked' : 'exchanging'
  }

  /** What is proved now that it is done; null where the library does not hold the device for compared. */
  async proved(): Promise<Proved | null> {
    const other = this.#sas?.otherDeviceId.toString()
    if (other === undefined) return null
    const fingerprint = await this.ours.use((inside) => this.#comparedKey(inside, other))
    if (fingerprint === null) return null
    await this.ours.query(this.user) // brings our signature over its account key, where we have made one
    return this.ours.use(async ({ lib, machine }) => {
      const identity = await machine.getIdentity(new lib.UserId(this.user))
      return { fingerprint, master: identity?.isVerified() ? masterKey(identity.masterKey) : null }
    })
  }

  async #comparedKey({ lib, machine, flush }: Inside, other: string): Promise<string | null> {
    const device = await machine.getDevice(new lib.UserId(this.user), new lib.DeviceId(other))
    await flush()
    return device?.isLocallyTrusted() ? (device.ed25519Key?.toBase64() ?? null) : null
  }

  get #sas(): Sas | null {
    const one = this.request.getVerification() // which it forgets when it is over
    if (one && 'emoji' in one) this.#last = one
    return this.#last
  }
}

function reasonOf(stop: CancelInfo | null): string {
  if (!stop) return 'nobody answered in time'
  const who = stop.cancelledbyUs() ? 'this side' : 'the other side'
  if (stop.cancelCode() === 'm.mismatched_sas') return `${who} saw something else than the other`
  return `${who} ended it: ${stop.reason()}`
}
