// The overview on a terminal of any size: it fits, and whoever lives or has mail is shown before the others.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { plain } from '../../../src/cli/paint.ts'
import { topText } from '../../../src/cli/top-text.ts'
import type { AccountState, OverviewAnswer } from '../../../src/wire/overview.ts'

const account = (id: string, unread: number): AccountState => ({
  id,
  label: null,
  kind: 'agent',
  live_sessions: 0,
  last_seen: null,
  unread,
  oldest_unread_age_secs: unread > 0 ? 5 : null,
  session_unread: 0,
  waiting: 0,
  doorbell: null,
})
const off = { state: 'off' as const, note: null }
const overview = (accounts: AccountState[]): OverviewAnswer => ({
  accounts,
  has_more: false,
  after: null,
  rooms: 0,
  orphaned_sessions: 0,
  parts: { wake: off, dispatch: off, link: off },
  now: '2026-11-30T12:00:00.000Z',
})

test('no line is wider, and with the foot there are no more lines than the terminal has', () => {
  const size = fc.record({ columns: fc.integer({ min: 1, max: 200 }), rows: fc.integer({ min: 5, max: 50 }) })
  fc.assert(
    fc.property(fc.array(fc.nat(3), { maxLength: 60 }), size, (unread, { columns, rows }) => {
      const lines = topText(
        overview(unread.map((count, at) => account(`agent-${at}`, count))),
        { columns, rows },
        plain,
      )
      expect(lines.length).toBeLessThanOrEqual(rows - 1)
      for (const line of lines.slice(0, -1)) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(Math.max(columns, 1))
    }),
  )
})

test('who has mail comes first where not all fit, and the rest is counted', () => {
  const lines = topText(
    overview([account('a', 0), account('b', 0), account('c', 0), account('d', 2)]),
    { columns: 80, rows: 5 },
    plain,
  )
  expect(lines[2]).toStartWith('d ')
  expect(lines.at(-1)).toBe('and 3 more')
})
