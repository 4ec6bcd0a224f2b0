// The counts: Prometheus text, for operators.
import { expect, test } from 'bun:test'
import { BOUNDS, Metrics } from '../../../../src/door/http/metrics.ts'
import { Refusal } from '../../../../src/wire/refusal.ts'
import { Office, refusalOf } from '../support.ts'

test('counts calls by outcome and time', async () => {
  const metrics = new Metrics()
  expect(await metrics.timed('inbox', 'http', async () => 7)).toBe(7)
  const busy = async () => {
    throw new Refusal('busy', 'full')
  }
  const fault = async () => {
    throw new Error('bug')
  }
  expect((await refusalOf(metrics.timed('inbox', 'http', busy))).kind).toBe('busy')
  await metrics.timed('inbox', 'http', fault).catch(() => {})
  const [series] = [...metrics.all()]
  expect(Object.fromEntries(series?.outcomes ?? [])).toEqual({ ok: 1, busy: 1, internal: 1 })
  expect(series?.buckets).toHaveLength(BOUNDS.length + 1)
  expect(series?.buckets.reduce((sum, count) => sum + count, 0)).toBe(3)
})

test('/metrics is for operators and is well-formed', async () => {
  await using office = await Office.open('alice')
  expect((await refusalOf(office.client('alice').text('/metrics'))).kind).toBe('permission_denied')
  await office.client('alice').call('whoami', {})
  const text = await office.client('operator').text('/metrics')
  const sample = /^[a-z0-9_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? [0-9.e+-]+$/
  for (const line of text.trimEnd().split('\n')) expect(line).toMatch(line.startsWith('#') ? /^# (HELP|TYPE) / : sample)
  expect(text).toContain('m4a_requests_total{operation="whoami",door="http",outcome="ok"} 1')
  expect(text).toContain('m4a_request_seconds_bucket{operation="whoami",door="http",le="+Inf"} 1')
  expect(text).toContain('m4a_live_sessions')
  expect(text).toContain('m4a_dispatches{state="queued"} 0')
  expect(text).toContain('m4a_dispatches_total{outcome="replied"} 0')
})
