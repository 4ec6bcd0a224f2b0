// The refusals of attestation: a name, and what was seen.
import type { AttestRefusal } from './attestor.ts'

export function refuse(kind: AttestRefusal['kind'], seen: AttestRefusal['seen']): AttestRefusal {
  return { ok: false, kind, seen }
}
