// Our device: the keys, what goes to and comes from them, and whom they trust. One thing at a time, since the ratchets are shared.
import type {
  DecryptedRoomEvent,
  Device as MatrixDevice,
  OlmMachine,
  RoomKeyWithheldInfo,
} from '@matrix-org/matrix-sdk-crypto-wasm'
import type { Pin } from '../peers.ts'
import { type Library, loadLibrary } from './library.ts'

/** A request that the crypto library wants to be made; `id` is told back with the answer, where there is one. */
export type Outgoing = { type: number; id: string | undefined; body: string; event_type?: string; txn_id?: string }
/** Makes the request; resolves to the text of the answer. */
export type Transport = (kind: OutgoingKind, request: Outgoing) => Promise<string>
export type OutgoingKind = 'upload' | 'query' | 'claim' | 'to_device' | 'signatures'

export type SyncPart = {
  toDevice: unknown[]
  changed: string[]
  left: string[]
  oneTimeKeys: Record<string, number>
  fallbackKeys: string[]
}

/** What an event said, and the device that proves it did. */
export type Opened = {
  type: string
  content: unknown
  device: string | null
  /** Ed25519 key of the sending device, unpadded base64. */
  fingerprint: string | null
  /** Its owner's cross-signing key vouches for the device. */
  signedByOwner: boolean
}
export type Sealed = { reason: string; withheld: string | null }

/** A key that a user has and that nobody has pinned. */
export type SeenDevice = { user: string; device: string; fingerprint: string; label: string | null }
/** What of a peer's pin the keys on the homeserver show. */
export type PinState = { ok: boolean; reason: string | null; unpinned: SeenDevice[] }

/** Messages after which a room key is made anew. */
const ROTATION = 100n
const ROUNDS = 10

export class Device {
  readonly #lib: Library
  readonly #machine: OlmMachine
  readonly #transport: Transport
  #turn: Promise<unknown> = Promise.resolve()

  private constructor(lib: Library, machine: OlmMachine, transport: Transport) {
    this.#lib = lib
    this.#machine = machine
    this.#transport = transport
  }

  /** `key`: 32 bytes that seal the store. IndexedDB must be installed. */
  static async open(
    user: string,
    device: string,
    key: Uint8Array,
    transport: Transport,
    withheld: (user: string, code: string) => void,
  ): Promise<Device> {
    const lib = await loadLibrary()
    const store = await lib.StoreHandle.openWithKey('olm', key)
    const machine = await lib.OlmMachine.initFromStore(new lib.UserId(user), new lib.DeviceId(device), store)
    await machine.registerRoomKeysWithheldCallback(async (infos: RoomKeyWithheldInfo[]) => {
      for (const info of infos) withheld(info.sender.toString(), info.withheldCode)
    })
    return new Device(lib, machine, transport)
  }

  /** Ed25519, unpadded base64: what a peer pins. */
  get fingerprint(): string {
    return this.#machine.identityKeys.ed25519.toBase64()
  }

  /** Takes in what /sync brought. An event that the library cannot bear is left out, the others count. */
  async receive(part: SyncPart): Promise<void> {
    await this.#alone(async () => {
      try {
        await this.#feed(part, part.toDevice)
      } catch {
        await this.#feed(part, [])
        for (const event of part.toDevice) await this.#feed({ ...part, changed: [], left: [] }, [event]).catch(() => {})
      }
    })
  }

  async #feed({ changed, left, oneTimeKeys, fallbackKeys }: SyncPart, events: unknown[]): Promise<void> {
    const ids = (names: string[]) => names.flatMap((name) => this.#user(name) ?? [])
    await this.#machine.receiveSyncChanges(
      JSON.stringify(events),
      new this.#lib.DeviceLists(ids(changed), ids(left)),
      new Map(Object.entries(oneTimeKeys)),
      new Set(fallbackKeys),
    )
  }

  /** Follows the keys of those users, and makes every request that is due. */
  async settle(users: readonly string[]): Promise<void> {
    await this.#alone(async () => {
      await this.#machine.updateTrackedUsers(users.flatMap((name) => this.#user(name) ?? []))
      await this.#flush()
    })
  }

  async #flush(): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      const due: Outgoing[] = await this.#machine.outgoingRequests()
      if (due.length === 0) return
      for (const request of due) await this.#make(request)
    }
  }

  async #make(request: Outgoing): Promise<void> {
    const kind = this.#kinds.get(request.type)
    if (kind === undefined) return
    const answer = await this.#transport(kind, request)
    if (request.id) await this.#machine.markRequestAsSent(request.id, request.type, answer)
  }

  get #kinds(): Map<number, OutgoingKind> {
    const { RequestType } = this.#lib
    return new Map<number, OutgoingKind>([
      [RequestType.KeysUpload, 'upload'],
      [RequestType.KeysQuery, 'query'],
      [RequestType.KeysClaim, 'claim'],
      [RequestType.ToDevice, 'to_device'],
      [RequestType.SignatureUpload, 'signatures'],
    ])
  }

  /**
   * Compares a pin with the keys of that user as they are now, trusts what is pinned and nothing else.
   * Devices that share the account and are not pinned get no key and are named.
   */
  async pin(user: string, pin: Pin): Promise<PinState> {
    return this.#alone(async () => {
      const id = this.#user(user)
      if (!id) return { ok: false, reason: `${user} is no Matrix user`, unpinned: [] }
      const identity = await this.#machine.getIdentity(id)
      const master = identity ? masterKey(identity.masterKey) : null
      const devices: MatrixDevice[] = (await this.#machine.getUserDevices(new this.#lib.UserId(user))).devices()
      const pinned = (device: MatrixDevice) =>
        pin.by === 'device'
          ? device.ed25519Key?.toBase64() === pin.key
          : master === pin.key && device.isCrossSignedByOwner()
      const unpinned: SeenDevice[] = []
      let found = false
      for (const device of devices) {
        const trusted = pinned(device)
        found ||= trusted
        const wanted = trusted ? this.#lib.LocalTrust.Verified : this.#lib.LocalTrust.Unset
        if (device.localTrustState !== wanted) await device.setLocalTrust(wanted)
        if (!trusted)
          unpinned.push({
            user,
            device: device.deviceId.toString(),
            fingerprint: device.ed25519Key?.toBase64() ?? '',
            label: device.displayName ?? null,
          })
      }
      return { ok: found, reason: found ? null : reasonFor(pin, devices.length, master), unpinned }
    })
  }

  /** Nobody is trusted as that user any more. */
  async unpin(user: string): Promise<void> {
    await this.#alone(async () => {
      const id = this.#user(user)
      if (!id) return
      for (const device of (await this.#machine.getUserDevices(id)).devices())
        await device.setLocalTrust(this.#lib.LocalTrust.BlackListed)
    })
  }

  /** Asks the homeserver for the keys of a user now, whatever /sync said. */
  async query(user: string): Promise<void> {
    await this.#alone(async () => {
      const id = this.#user(user)
      if (id) await this.#make(this.#machine.queryKeysForUsers([id]))
    })
  }

  /** Content for `m.room.encrypted`, for the pinned devices of `users` alone. The ratchet is on the disk before it returns. */
  async encrypt(room: string, users: readonly string[], type: string, content: object): Promise<string> {
    return this.#alone(async () => {
      const ids = () => users.map((name) => new this.#lib.UserId(name)) // the library takes them away with each call
      const claim = await this.#machine.getMissingSessions(ids())
      if (claim) await this.#make(claim)
      const settings = new this.#lib.EncryptionSettings()
      settings.algorithm = this.#lib.EncryptionAlgorithm.MegolmV1AesSha2
      settings.sharingStrategy = this.#lib.CollectStrategy.onlyTrustedDevices()
      settings.rotationPeriodMessages = ROTATION
      for (const request of await this.#machine.shareRoomKey(new this.#lib.RoomId(room), ids(), settings))
        await this.#make(request)
      return this.#machine.encryptRoomEvent(new this.#lib.RoomId(room), type, JSON.stringify(content))
    })
  }

  async decrypt(room: string, event: { sender: string }): Promise<Opened | Sealed> {
    return this.#alone(async () => {
      let opened: DecryptedRoomEvent
      try {
        // the pin decides, and it is checked by the caller: shields look at cross-signing alone
        const settings = new this.#lib.DecryptionSettings(this.#lib.TrustRequirement.Untrusted)
        opened = await this.#machine.decryptRoomEvent(JSON.stringify(event), new this.#lib.RoomId(room), settings)
      } catch (error) {
        if (!(error instanceof this.#lib.MegolmDecryptionError)) return { reason: String(error), withheld: null }
        return { reason: error.description, withheld: error.withheldCode ?? null }
      }
      const inner: { type?: unknown; content?: unknown } = JSON.parse(opened.event)
      const id = opened.senderDevice
      const device = id ? await this.#machine.getDevice(new this.#lib.UserId(event.sender), id) : undefined
      return {
        type: String(inner.type),
        content: inner.content,
        device: device?.deviceId.toString() ?? null,
        fingerprint: device?.ed25519Key?.toBase64() ?? null,
        signedByOwner: device?.isCrossSignedByOwner() ?? false,
      }
    })
  }

  /** Keys of our own account that vouch for this device; made once. Resolves to what has to be uploaded with authentication. */
  async crossSign(user: string, upload: (keys: string) => Promise<void>): Promise<void> {
    await this.#alone(async () => {
      await this.#flush()
      const [identity, status] = await Promise.all([
        this.#machine.getIdentity(new this.#lib.UserId(user)),
        this.#machine.crossSigningStatus(),
      ])
      // keys that another device of the account made are not replaced: whoever pinned them would lose them
      if (identity && !status.hasMaster) throw new Error('another device has the cross-signing keys of the account')
      const requests = await this.#machine.bootstrapCrossSigning(false)
      if (requests.uploadKeysRequest) await this.#make(requests.uploadKeysRequest)
      await upload(requests.uploadSigningKeysRequest.body)
      await this.#make(requests.uploadSignaturesRequest)
    })
  }

  /** Our cross-signing master key; null where there is none yet. */
  async masterKey(user: string): Promise<string | null> {
    const id = this.#user(user)
    const identity = id ? await this.#machine.getIdentity(id) : undefined
    return identity ? masterKey(identity.masterKey) : null
  }

  close(): void {
    this.#machine.close()
  }

  #user(name: string) {
    try {
      return new this.#lib.UserId(name)
    } catch {
      return null // what a homeserver sends may be anything
    }
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work, work)
    this.#turn = turn.catch(() => {})
    return turn
  }
}

/** The library gives the whole key object as text. */
function masterKey(text: string): string | null {
  try {
    const { keys }: { keys?: Record<string, string> } = JSON.parse(text)
    return Object.values(keys ?? {})[0] ?? null
  } catch {
    return null
  }
}

function reasonFor(pin: Pin, devices: number, master: string | null): string {
  if (devices === 0) return 'the homeserver shows no device of that account yet'
  if (pin.by === 'device') return 'the pinned key is not among the devices of that account'
  return master === null
    ? 'that account has no cross-signing key'
    : 'the cross-signing key of that account is another one'
}
