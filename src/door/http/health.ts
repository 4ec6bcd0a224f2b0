// GET /health: is the mailbox up, can it prove its callers, where does it listen. The only route without a bearer.
import { lackOfDescriptors } from '../descriptors.ts'
import { VERSION } from '../version.ts'

export type HealthFacts = {
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Whether the attestation self-test passed; while it has not, every mail call is refused. */
  attestation: { ok: true } | { ok: false; reason: string }
  /** `host:port` and socket paths that are served. */
  listening: string[]
  /** Addresses that could not be served, with the reason. */
  unavailable: { address: string; reason: string }[]
}

/** Anybody may know how many notifications failed since the start; why, only the account and the log. */
export type Notified = { readonly failed: number }

export type Health = ReturnType<typeof healthAnswer>

/** `fault`: why the store cannot be written. The fields up to `background_tasks` are those of the prior daemon, its time format included. */
export function healthAnswer(facts: HealthFacts, fault: string | null, now: number, notifications: Notified) {
  const attestation = provable(facts)
  return {
    ok: attestation.ok && fault === null,
    service: 'mail4agent',
    version: VERSION,
    started_at: `${new Date(facts.startedAt).toISOString().slice(0, 19)}Z`,
    uptime_secs: Math.floor((now - facts.startedAt) / 1000),
    dependencies: [],
    background_tasks: [],
    attestation,
    store: fault === null ? { ok: true } : { ok: false, reason: fault },
    listening: facts.listening,
    unavailable: facts.unavailable,
    notifications: { failed: notifications.failed },
  }
}

/** Whether a caller could be proved just now. */
export function provable({ attestation }: HealthFacts): HealthFacts['attestation'] {
  const lack = attestation.ok ? lackOfDescriptors() : null
  return lack === null ? attestation : { ok: false, reason: lack }
}
