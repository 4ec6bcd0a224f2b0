// GET /health: well only while callers can be proved and the store can be written.
import { expect, test } from 'bun:test'
import { healthAnswer } from '../../../../src/door/http/health.ts'

const quiet = { failed: 0 }
const facts = { startedAt: 0, attestation: { ok: true }, listening: [], unavailable: [] } as const

test('a store that cannot be written is not well, and the reason is given', () => {
  const well = { ...facts, listening: [], unavailable: [] }
  expect(healthAnswer(well, null, 0, quiet)).toMatchObject({ ok: true, store: { ok: true } })
  const reason = 'database or disk is full'
  expect(healthAnswer(well, reason, 0, quiet)).toMatchObject({ ok: false, store: { ok: false, reason } })
  const attestation = { ok: false, reason: 'no procfs' } as const
  expect(healthAnswer({ ...well, attestation }, null, 0, quiet)).toMatchObject({ ok: false, store: { ok: true } })
})

test('notifications that were not shown are counted, and leave the mailbox well', () => {
  const answer = healthAnswer({ ...facts, listening: [], unavailable: [] }, null, 0, { failed: 2 })
  expect(answer).toMatchObject({ ok: true, notifications: { failed: 2 } })
})
