// The attestor of a platform without one: it names nobody and refuses by name.
import type { Attestor, AttestRefusal } from './attestor.ts'

/** Refuses every call with `unsupported_platform`; `reason` says why, for the health answer. */
export function refuseAll(reason: string): Attestor {
  const refusal: AttestRefusal = {
    ok: false,
    kind: 'unsupported_platform',
    seen: { platform: process.platform, reason },
  }
  return {
    tcp: () => refusal,
    accept: () => ({ pid: 0, uid: -1, owner: refusal }),
    unix: () => refusal,
    self: () => null,
    ancestors: () => [],
    environment: () => ({}),
    alive: () => false,
    selfTest: async () => ({ ok: false, reason }),
    close: () => {},
  }
}
