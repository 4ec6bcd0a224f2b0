// What the store remembers of wakes that failed: the newest of each mailbox alone, also after it was opened again.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openStore } from '../../../src/store/open.ts'
import { tempFolder } from '../../support/temp.ts'

test('only the newest wake of a mailbox counts, and a restart forgets none', async () => {
  using folder = tempFolder()
  const path = join(folder.path, 'mail.sqlite')
  const store = await openStore(path)
  const heard: number[] = []
  const silence = store.wakes.onLog(({ box }) => void heard.push(box))
  const wake = (box: number, outcome: string, session: string | null = null) => {
    const tried = [{ door: 'a', session, outcome: null, detail: 'shut', ms: 1 }]
    return store.wakes.addLog({ box, message: 1, count: 1, outcome, door: null, at: 5, ms: 1, tried })
  }
  await wake(1, 'refused')
  await wake(1, 'started')
  await wake(2, 'started')
  await wake(2, 'unknown')
  await wake(3, 'no_door')
  await wake(4, 'no_door', 's-1')
  silence()
  await wake(5, 'stored', 's-1')
  expect(heard).toEqual([1, 1, 2, 2, 3, 4])
  expect(store.wakes.failed().map(({ box }) => box)).toEqual([2, 4])
  await store.close()
  const again = await openStore(path)
  expect(again.wakes.failed()).toMatchObject([
    { box: 2, outcome: 'unknown' },
    { box: 4, tried: [{ door: 'a' }] },
  ])
  await again.close()
})
