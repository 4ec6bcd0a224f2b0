// Our device: the keys, what goes to and comes from them, and whom they trust. One thing at a time, since the ratchets are shared.
import type {
  CollectStrategy,
  DecryptedRoomEvent,
  OlmMachine,
  RoomKeyWithheldInfo,
} from '@matrix-org/matrix-sdk-crypto-wasm'
import { isJson, type Json } from '../matrix/homeserver.ts'
import { type Library, loadLibrary } from './library.ts'
import { masterKey, userId } from './pins.ts'

/** A request that the crypto library wants to be made; `id` is told back with the answer, where there is one. */
export type Outgoing = {
  type: number
  id: string | undefined
  body: string
  event_type?: string
  txn_id?: string
  room_id?: string
}
/** Makes the request; resolves to the text of the answer. */
export type Transport = (kind: OutgoingKind, request: Outgoing) => Promise<string>
export type OutgoingKind = 'upload' | 'query' | 'claim' | 'to_device' | 'signatures' | 'room'

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
  /** The comparison of two devices that it belongs to, and that has taken it in. */
  verification: string | null
}
export type Sealed = { reason: string; withheld: string | null }

/** The library, and how what it asks for is done. */
export type Inside = {
  lib: Library
  machine: OlmMachine
  make(request: Outgoing): Promise<void>
  /** Makes every request that is due. */
  flush(): Promise<void>
  /** Sends the first event of a comparison in a room; resolves to its id. */
  openly(room: string, type: string, content: string): Promise<string>
}

/** Messages after which a room key is made anew. */
const ROTATION = 100n
const ROUNDS = 10

export class Device {
  readonly #lib: Library
  readonly #machine: OlmMachine
  readonly #transport: Transport
  /** Rooms in which devices are compared, and with whom. */
  readonly comparing = new Map<string, string>()
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
    const ids = (names: string[]) => names.flatMap((name) => userId(this.#lib, name) ?? [])
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
      await this.#machine.updateTrackedUsers(users.flatMap((name) => userId(this.#lib, name) ?? []))
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
    const answer = await this.#transport(kind, kind === 'room' ? await this.#sealOpenly(request) : request)
    if (request.id) await this.#machine.markRequestAsSent(request.id, request.type, answer)
  }

  /** Sends the first event of a comparison; resolves to its id. */
  async #openly(room: string, type: string, content: string): Promise<string> {
    const request = {
      type: -1,
      id: undefined,
      body: content,
      event_type: type,
      room_id: room,
      txn_id: crypto.randomUUID(),
    }
    const answer: { event_id?: unknown } = JSON.parse(await this.#transport('room', await this.#sealOpenly(request)))
    return String(answer.event_id)
  }

  /**
   * What belongs to a comparison is for devices that nobody has pinned yet: it gets a room key that nothing else is ever
   * encrypted with.
   */
  async #sealOpenly(request: Outgoing): Promise<Outgoing> {
    const { room_id: room = '', event_type: type = '' } = request
    const user = this.comparing.get(room)
    if (user === undefined) throw new Error('nobody is compared in that room')
    const id = () => new this.#lib.RoomId(room)
    await this.#machine.invalidateGroupSession(id())
    await this.#share(room, [user], this.#lib.CollectStrategy.allDevices())
    const body = await this.#machine.encryptRoomEvent(id(), type, request.body)
    await this.#machine.invalidateGroupSession(id())
    return { type: request.type, id: request.id, txn_id: request.txn_id ?? '', room_id: room, body }
  }

  get #kinds(): Map<number, OutgoingKind> {
    const { RequestType } = this.#lib
    return new Map<number, OutgoingKind>([
      [RequestType.KeysUpload, 'upload'],
      [RequestType.KeysQuery, 'query'],
      [RequestType.KeysClaim, 'claim'],
      [RequestType.ToDevice, 'to_device'],
      [RequestType.SignatureUpload, 'signatures'],
      [RequestType.RoomMessage, 'room'],
    ])
  }

  /** One thing with the library itself, while nothing else is done with it. */
  use<T>(work: (inside: Inside) => Promise<T>): Promise<T> {
    return this.#alone(() =>
      work({
        lib: this.#lib,
        machine: this.#machine,
        make: (request) => this.#make(request),
        flush: () => this.#flush(),
        openly: (room, type, content) => this.#openly(room, type, content),
      }),
    )
  }

  /** Asks the homeserver for the keys of a user now, whatever /sync said. */
  async query(user: string): Promise<void> {
    await this.#alone(async () => {
      const id = userId(this.#lib, user)
      if (id) await this.#make(this.#machine.queryKeysForUsers([id]))
    })
  }

  /** Content for `m.room.encrypted`, for the pinned devices of `users` alone. The ratchet is on the disk before it returns. */
  async encrypt(room: string, users: readonly string[], type: string, content: object): Promise<string> {
    return this.#alone(async () => {
      await this.#share(room, users, this.#lib.CollectStrategy.onlyTrustedDevices())
      return this.#machine.encryptRoomEvent(new this.#lib.RoomId(room), type, JSON.stringify(content))
    })
  }

  async #share(room: string, users: readonly string[], to: CollectStrategy): Promise<void> {
    const ids = () => users.map((name) => new this.#lib.UserId(name)) // the library takes them away with each call
    const claim = await this.#machine.getMissingSessions(ids())
    if (claim) await this.#make(claim)
    const settings = new this.#lib.EncryptionSettings()
    settings.algorithm = this.#lib.EncryptionAlgorithm.MegolmV1AesSha2
    settings.sharingStrategy = to
    settings.rotationPeriodMessages = ROTATION
    for (const request of await this.#machine.shareRoomKey(new this.#lib.RoomId(room), ids(), settings))
      await this.#make(request)
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
      const inner: Inner = JSON.parse(opened.event)
      const verification = flowOf(inner)
      if (verification !== null)
        await this.#machine.receiveVerificationEvent(opened.event, new this.#lib.RoomId(room)).catch(() => {})
      const id = opened.senderDevice
      const device = id ? await this.#machine.getDevice(new this.#lib.UserId(event.sender), id) : undefined
      return {
        type: String(inner.type),
        content: inner.content,
        device: device?.deviceId.toString() ?? null,
        fingerprint: device?.ed25519Key?.toBase64() ?? null,
        signedByOwner: device?.isCrossSignedByOwner() ?? false,
        verification,
      }
    })
  }

  /**
   * What a client has said in clear about a comparison: Matrix CS §11.12.2.1 lets it, and js-sdk does. It proves nothing before a
   * person has looked. Resolves to the comparison, or null where it is about none.
   */
  async hearOpenly(room: string, event: Inner): Promise<string | null> {
    const flow = flowOf(event)
    if (flow === null) return null
    return this.#alone(async () => {
      await this.#machine.receiveVerificationEvent(JSON.stringify(event), new this.#lib.RoomId(room)).catch(() => {})
      return flow
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
    const id = userId(this.#lib, user)
    const identity = id ? await this.#machine.getIdentity(id) : undefined
    return identity ? masterKey(identity.masterKey) : null
  }

  close(): void {
    this.#machine.close()
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work, work)
    this.#turn = turn.catch(() => {})
    return turn
  }
}

export const isComparison = (event: Inner): boolean => flowOf(event) !== null

type Inner = { type?: unknown; event_id?: unknown; content?: Json }

/** The comparison of devices that an event in a room is about: the event that began it. Matrix CS §11.12.2.1. */
function flowOf({ type, event_id: id, content }: Inner): string | null {
  if (type === 'm.room.message' && content?.msgtype === 'm.key.verification.request') return String(id)
  if (typeof type !== 'string' || !type.startsWith('m.key.verification.')) return null
  const relation = content?.['m.relates_to']
  return isJson(relation) ? String(relation.event_id) : null
}
