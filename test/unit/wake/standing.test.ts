// Doors that stand by: one a session, found between two of its calls, and told of by the door itself.
import { expect, test } from 'bun:test'
import type { Caller } from '../../../src/engine/mail.ts'
import { Standing } from '../../../src/wake/standing.ts'

const caller = (id: number) => ({ session: { id } }) as unknown as Caller
const DOOR = 'claude-rewake' as const
const wake = { message_id: 'm4a_000000000001000000000001', text: 'text' }

test('the first holds the seat, others are told so; what it is given ends its wait', async () => {
  const came: number[] = []
  const standing = new Standing(Date.now, ({ session }) => came.push(session.id))
  const stop = new AbortController()
  const first = standing.wait(caller(1), { door: DOOR, wait_secs: 5 }, 5_000, stop.signal)
  expect(await standing.wait(caller(1), { door: DOOR, wait_secs: 5 }, 5_000, stop.signal)).toEqual({
    wake: null,
    taken: true,
  })
  expect(standing.seat(1, DOOR)).toEqual({ busy: false })
  expect(standing.seat(2, DOOR)).toBeNull()
  expect(await standing.give(1, DOOR, wake, () => {})).toBe(true)
  expect(await first).toEqual({ wake, taken: false })
  expect(await standing.give(2, DOOR, wake, () => {})).toBe(false)
  expect(came).toEqual([1])
})

test('a door that comes back is given what came in between, and reports of the one before', async () => {
  const standing = new Standing(Date.now, () => {})
  const stop = new AbortController()
  const request = { door: 'opencode-plugin' as const, wait_secs: 1 }
  expect(await standing.wait(caller(1), request, 1, stop.signal)).toEqual({ wake: null, taken: false })
  const reports: unknown[] = []
  const given = standing.give(1, 'opencode-plugin', wake, (last) => reports.push(last))
  const second = standing.wait(caller(1), { ...request, busy: true }, 5_000, stop.signal)
  expect(await given).toBe(true)
  expect((await second).wake).toEqual(wake)
  const last = { message_id: wake.message_id, ok: true, busy: true }
  const third = standing.wait(
    caller(1),
    { ...request, last: { ...last, message_id: 'm4a_000000000002000000000002' } },
    5_000,
    stop.signal,
  )
  expect(reports).toEqual([])
  stop.abort()
  await third
  const fourth = standing.wait(caller(1), { ...request, last }, 1, new AbortController().signal)
  await fourth
  expect(reports).toEqual([last])
})
