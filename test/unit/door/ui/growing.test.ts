// Lists of the page while letters come and go: no gap, none twice, whatever happens between two readings.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Rows } from '../../../../src/door/ui/page/entries.ts'
import { again, longer, PAGE, renewed } from '../../../../src/door/ui/page/growing.ts'
import type { Entry } from '../../../../src/wire/overview.ts'

const entry = (number: number): Entry => ({
  message_id: `m4a_${number.toString(16).padStart(24, '0')}`,
  thread: '',
  from_text: '',
  to: [],
  subject: '',
  preview: '',
  created_at: '',
  age_secs: 0,
})

/** What the mailbox answers: `letters` in their order, from behind `cursor` on. */
function read(letters: readonly number[], cursor: string | null, limit: number, newestFirst: boolean): Rows {
  const rest = letters.filter((one) => cursor === null || (newestFirst ? one < Number(cursor) : one > Number(cursor)))
  const shown = rest.slice(0, limit)
  return { letters: shown.map(entry), more: rest.length > limit, cursor: String(shown.at(-1) ?? cursor) }
}

const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('more' as const) }),
    fc.record({ kind: fc.constant('come' as const), count: fc.oneof(fc.nat(5), fc.constantFrom(49, 50, 51, 300)) }),
  ),
  { maxLength: 12 },
)

test('what is shown is always a whole beginning of the list', () => {
  fc.assert(
    fc.property(fc.nat(400), fc.boolean(), steps, (count, newestFirst, walk) => {
      const all = Array.from({ length: count }, (_, index) => index + 1)
      const now = () => (newestFirst ? all.toReversed() : all)
      let shown: Rows = renewed(null, read(now(), null, again(null), newestFirst), newestFirst)
      for (const step of walk) {
        if (step.kind === 'more') {
          if (shown.more) shown = longer(shown, read(now(), shown.cursor, PAGE, newestFirst))
        } else {
          for (let come = 0; come < step.count; come++) all.push(all.length + 1)
          shown = renewed(shown, read(now(), null, again(shown), newestFirst), newestFirst)
        }
        const expected = now().slice(0, shown.letters.length)
        expect(shown.letters.map((letter) => letter.message_id)).toEqual(expected.map((one) => entry(one).message_id))
        // of a list that is too long to be read anew as a whole it is not known whether it is one
        const unknown = !newestFirst && shown.letters.length > 256
        if (!unknown || !shown.more) expect(shown.more).toBe(shown.letters.length < all.length)
      }
    }),
  )
})

test('a letter that was closed leaves the part that is read anew', () => {
  const before = read([5, 4, 3, 2, 1], null, 50, true)
  expect(renewed(before, read([5, 3, 2, 1], null, 50, true), true).letters).toHaveLength(4)
  expect(renewed(before, read([], null, 50, true), true).letters).toEqual([])
})

test('what comes at the end of a list that was shown as a whole can be asked for, however long it is', () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
  let shown = renewed(null, read(numbers(257), null, again(null), false), false)
  while (shown.more) shown = longer(shown, read(numbers(257), shown.cursor, PAGE, false))
  shown = renewed(shown, read(numbers(306), null, again(shown), false), false)
  expect(shown.more).toBe(true)
  expect(longer(shown, read(numbers(306), shown.cursor, PAGE, false)).letters).toHaveLength(306)
})
