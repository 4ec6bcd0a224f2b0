// What comes from a homeserver or a peer may be anything: it is read tolerantly, and what goes out fits into an event.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { chunksOf, envelopesOf } from '../../../src/link/mail/envelope.ts'
import { backOff, HomeserverError } from '../../../src/link/matrix/homeserver.ts'
import { readSync } from '../../../src/link/matrix/sync-answer.ts'
import { pairingToken, readFingerprint, readToken, showFingerprint } from '../../../src/link/peers.ts'

test('no answer to /sync breaks its reader, and one without a position is refused', () => {
  const events = fc.array(fc.anything())
  const room = fc.record({
    state: fc.oneof(fc.anything(), fc.record({ events })),
    timeline: fc.oneof(fc.anything(), fc.record({ events, limited: fc.anything(), prev_batch: fc.anything() })),
    invite_state: fc.oneof(fc.anything(), fc.record({ events })),
  })
  const answer = fc.record({
    next_batch: fc.constant('s1'),
    rooms: fc.oneof(
      fc.anything(),
      fc.record({
        join: fc.dictionary(fc.string(), room),
        invite: fc.dictionary(fc.string(), room),
        leave: fc.anything(),
      }),
    ),
    to_device: fc.anything(),
    device_lists: fc.anything(),
    device_one_time_keys_count: fc.anything(),
    device_unused_fallback_key_types: fc.anything(),
  })
  fc.assert(
    fc.property(answer, (value) => {
      const sync = readSync(value, '@us:x')
      expect(sync.oneTimeKeys.signed_curve25519).toBeNumber()
      for (const { timeline } of sync.joined) for (const event of timeline) expect(event.event_id).toBeString()
    }),
  )
  expect(() => readSync({}, '@us:x')).toThrow(HomeserverError)
})

test('envelopes come out of their chunks as they went in, and each fits into an event', () => {
  const receipt = fc.record({
    v: fc.constant(1),
    kind: fc.constant('receipt'),
    id: fc.constant(`m4a_${'0'.repeat(24)}`),
    to: fc.string({ maxLength: 100 }),
    state: fc.constantFrom('opened', 'closed', 'refused'),
    by: fc.constant(null),
    reason: fc.oneof(fc.constant(null), fc.string({ unit: 'binary', maxLength: 400 })),
  })
  fc.assert(
    fc.property(fc.array(receipt, { maxLength: 200 }), (envelopes) => {
      const chunks = chunksOf(envelopes.map((one) => JSON.stringify(one)))
      // base64 of what is base64 already, and what Megolm and the event add
      for (const { data } of chunks) expect((data.length * 4) / 3 + 2_000).toBeLessThan(65_536)
      expect(chunks.map(({ more }) => more).lastIndexOf(false)).toBe(chunks.length - 1)
      expect(envelopesOf(chunks.map(({ data }) => data).join('')).known).toEqual(JSON.parse(JSON.stringify(envelopes)))
    }),
  )
  expect(envelopesOf('bm9wZQ==')).toEqual({ known: [], odd: 1 })
})

test('a fingerprint and a pairing line can be read back', () => {
  const key = 'RN6uPC4i9GQSz2Iu74Jn/2KshxzdMO3PGe9/xT6grx8'
  expect(showFingerprint(key)).toBe('RN6u PC4i 9GQS z2Iu 74Jn /2Ks hxzd MO3P Ge9/ xT6g rx8')
  expect(readFingerprint(showFingerprint(key))).toBe(key)
  expect(readToken(pairingToken('@desk:example.org', key))).toEqual({ user: '@desk:example.org', key })
  for (const bad of ['', 'short', `${key}x`]) expect(() => readFingerprint(bad)).toThrow('fingerprint')
  for (const bad of ['m4a1:', 'm4a1:AAAA', `x${pairingToken('@a:b', key)}`]) expect(() => readToken(bad)).toThrow()
})

test('tries come ever more seldom, up to a minute', () => {
  for (let tries = 1; tries < 30; tries++) {
    expect(backOff(tries)).toBeLessThanOrEqual(60_000)
    expect(backOff(tries)).toBeGreaterThanOrEqual(Math.min(30_000, 250 * 2 ** tries))
  }
})
