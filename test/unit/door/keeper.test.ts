// What is old is removed by a clock that has stood for a pass: one that jumps ahead removes nothing before it is set right.
import { afterEach, expect, setSystemTime, test } from 'bun:test'
import { startKeeper } from '../../../src/door/keeper.ts'
import { openLog } from '../../../src/door/log.ts'

afterEach(() => {
  setSystemTime()
})

const NOTHING = {
  messages: 0,
  conversations: 0,
  bytes: 0,
  events: 0,
  accounts: new Map(),
  oldest: null,
  newest: null,
}

test('a pass goes by the clock of the pass before it where that is earlier', async () => {
  const passes: { asked: number; was: number }[] = []
  const retain = async (asked: number) => {
    passes.push({ asked, was: Date.now() })
    // after the first pass the clock jumps ahead ten years, for one pass, and then it is right again
    if (passes.length === 1) setSystemTime(new Date('2036-01-01T00:00:00Z'))
    if (passes.length === 2) setSystemTime(new Date('2026-01-02T00:00:00Z'))
    return NOTHING
  }
  setSystemTime(new Date('2026-01-01T00:00:00Z'))
  const stop = startKeeper({ keeping: { retain } }, openLog({ write: () => {} }), 5, 5)
  while (passes.length < 3) await new Promise((resolve) => setImmediate(resolve))
  await stop()
  const year = (time: number) => new Date(time).getUTCFullYear()
  expect(passes.slice(0, 3).map(({ asked, was }) => [year(asked), year(was)])).toEqual([
    [2026, 2026],
    [2026, 2036],
    [2026, 2026],
  ])
})
