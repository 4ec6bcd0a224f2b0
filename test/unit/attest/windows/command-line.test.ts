// Windows command lines, split as the C runtime splits them.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { splitCommandLine } from '../../../../src/attest/windows/command-line.ts'

/** The examples of "Parsing C command-line arguments". */
test.each([
  [`p "a b c" d e`, ['a b c', 'd', 'e']],
  [String.raw`p "ab\"c" "\\" d`, ['ab"c', '\\', 'd']],
  [String.raw`p a\\\b d"e f"g h`, [String.raw`a\\\b`, 'de fg', 'h']],
  [String.raw`p a\\\"b c d`, [String.raw`a\"b`, 'c', 'd']],
  [String.raw`p a\\\\"b c" d e`, [String.raw`a\\b c`, 'd', 'e']],
  [`p a"b"" c d`, ['ab" c d']],
  ['p  a\t\tb ', ['a', 'b']],
  ['p "" x', ['', 'x']],
])('%s', (line, rest) => {
  expect(splitCommandLine(line)).toEqual(['p', ...rest])
})

test('the name of the program is quoted and never escaped', () => {
  expect(splitCommandLine(String.raw`"C:\a b\c.exe" "d"`)).toEqual([String.raw`C:\a b\c.exe`, 'd'])
  expect(splitCommandLine(String.raw`C:\a\"b.exe x" y`)).toEqual([String.raw`C:\a\b.exe x`, 'y'])
  expect(splitCommandLine('')).toEqual([])
})

/** As programs quote for each other. */
function quoted(word: string): string {
  if (word !== '' && !/[ \t"]/.test(word)) return word
  return `"${word.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`
}

test('what was quoted comes back as it was', () => {
  const word = fc.string({ unit: fc.constantFrom('a', ' ', '"', '\\', '\t', 'ü') })
  fc.assert(
    fc.property(fc.array(word), (words) => {
      expect(splitCommandLine(['p', ...words.map(quoted)].join(' '))).toEqual(['p', ...words])
    }),
  )
})
