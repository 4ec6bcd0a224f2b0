// Pins held against the keys that a user has: what is pinned is trusted, and nothing else.
import type { Device as MatrixDevice, UserId } from '@matrix-org/matrix-sdk-crypto-wasm'
import type { Pin } from '../peers.ts'
import type { Device } from './device.ts'
import type { Library } from './library.ts'

/** A key that a user has and that nobody has pinned. */
export type SeenDevice = { user: string; device: string; fingerprint: string; label: string | null }
/** What of a peer's pin the keys on the homeserver show. */
export type PinState = { ok: boolean; reason: string | null; unpinned: SeenDevice[] }

/**
 * Compares a pin with the keys of that user as they are now, trusts what is pinned and nothing else.
 * Devices that share the account and are not pinned get no key and are named.
 */
export const comparePin = (ours: Device, user: string, pin: Pin): Promise<PinState> =>
  ours.use(async ({ lib, machine }) => {
    const id = userId(lib, user)
    if (!id) return { ok: false, reason: `${user} is no Matrix user`, unpinned: [] }
    const identity = await machine.getIdentity(id)
    const master = identity ? masterKey(identity.masterKey) : null
    const devices: MatrixDevice[] = (await machine.getUserDevices(new lib.UserId(user))).devices()
    const pinned = (device: MatrixDevice) =>
      pin.by === 'device'
        ? device.ed25519Key?.toBase64() === pin.key
        : master === pin.key && device.isCrossSignedByOwner()
    const unpinned: SeenDevice[] = []
    let found = false
    for (const device of devices) {
      const trusted = pinned(device)
      found ||= trusted
      const wanted = trusted ? lib.LocalTrust.Verified : lib.LocalTrust.Unset
      if (device.localTrustState !== wanted) await device.setLocalTrust(wanted)
      if (!trusted) unpinned.push(seen(user, device))
    }
    return { ok: found, reason: found ? null : reasonFor(pin, devices.length, master), unpinned }
  })

/** Nobody is trusted as that user any more. */
export const dropPin = (ours: Device, user: string): Promise<void> =>
  ours.use(async ({ lib, machine }) => {
    const id = userId(lib, user)
    if (!id) return
    for (const device of (await machine.getUserDevices(id)).devices())
      await device.setLocalTrust(lib.LocalTrust.BlackListed)
  })

export const seen = (user: string, device: MatrixDevice): SeenDevice => ({
  user,
  device: device.deviceId.toString(),
  fingerprint: device.ed25519Key?.toBase64() ?? '',
  label: device.displayName ?? null,
})

/** Null for what is no user: what a homeserver sends may be anything. */
export function userId(lib: Library, name: string): UserId | null {
  try {
    return new lib.UserId(name)
  } catch {
    return null
  }
}

/** The library gives the whole key object as text. */
export function masterKey(text: string): string | null {
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
