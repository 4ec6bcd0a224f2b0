// A caller that only looks: who it is, without a session that others could see or write to.
import type { Process } from '../attest/attestor.ts'
import type { AccountRow, SessionRow } from '../store/rows.ts'
import { LIMITS } from '../wire/limits.ts'
import { cutFact } from '../wire/text.ts'
import { instanceKey, sessionName } from './session-id.ts'

/** Row ids begin with 1: nothing lies in that box, and nothing is stored of that session. */
const NONE = 0

/** The session that the process would be at `now`, kept nowhere. */
export function passing(account: AccountRow, process: Process, now: number): SessionRow {
  const instance = instanceKey(process)
  const cwd = cutFact(process.cwd, LIMITS.fact)
  return {
    id: NONE,
    account: account.id,
    name: sessionName(instance, null),
    box: NONE,
    instance,
    conversation: null,
    attested: {
      pid: process.pid,
      started_at_unix_ms: process.startedAtMs,
      exe: cutFact(process.exe, LIMITS.fact),
      uid: process.uid,
      spawned_by: null,
    },
    corroborated: {
      provider: null,
      provider_session_id: null,
      conversation: null,
      model: null,
      cwd,
      sources: cwd === null ? {} : { cwd: 'proc' },
    },
    declared: { working_on: null, role: null, parent: null },
    firstSeen: now,
    lastSeen: now,
    ended: null,
    successor: null,
    given: 0,
    opened: 0,
    told: 0,
  }
}
