// Lines of an export that somebody wrote by hand: each is what it says, or refused with the field that is not.
import { expect, test } from 'bun:test'
import { lineOf } from '../../../../src/cli/import/exported.ts'

const header = { type: 'header', format: 'mail4agent-export', version: 1, exported_at: 'x', scope: 'all' }

test('lines of every type are read', () => {
  for (const line of [
    header,
    { type: 'account', id: 'a', label: null, kind: 'agent' },
    { type: 'room', id: 'r', label: 'R', members: ['a'] },
    { type: 'end', letters: 3 },
  ])
    expect(lineOf(JSON.stringify(line))).toEqual(line as ReturnType<typeof lineOf>)
})

test.each<[object | null | number, string]>([
  [null, 'no line'],
  [5, 'no line'],
  [{ type: { toString: 1 } }, 'unknown type'],
  [{ type: '__proto__' }, 'unknown type'],
  [{ ...header, version: '1' }, 'version'],
  [{ type: 'account', id: 5, label: null, kind: 'agent' }, 'id'],
  [{ type: 'account', id: '../x y', label: null, kind: 'agent' }, 'id'],
  [{ type: 'account', id: 'a', label: {}, kind: 'agent' }, 'label'],
  [{ type: 'room', id: 'r', label: null }, 'members'],
  [{ type: 'room', id: 'r', label: null, members: [null] }, 'members'],
  [{ type: 'end', letters: 'x' }, 'letters'],
])('%j is refused', (line, reason) => {
  expect(() => lineOf(JSON.stringify(line))).toThrow(reason)
})
