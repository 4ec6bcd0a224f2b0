// What cannot be seen is written out, everywhere in the same way, and everything else stays as it is.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { escapeLine, pieces } from '../../../src/wire/unseen.ts'

test('the pieces are the escaped line, and each says what it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const found = pieces(text)
      expect(found.map((piece) => piece.text).join('')).toBe(escapeLine(text))
      for (const piece of found) if (!piece.unseen) expect(escapeLine(piece.text)).toBe(piece.text)
    }),
  )
})

test('kept characters stay; joiners of emoji and scripts do, too', () => {
  expect(pieces('a\n\tb', '\n\t')).toEqual([{ text: 'a\n\tb', unseen: false }])
  expect(pieces('👩‍💻')).toEqual([{ text: '👩‍💻', unseen: false }])
  expect(pieces('a\u202eb')).toEqual([
    { text: 'a', unseen: false },
    { text: '\\u202e', unseen: true },
    { text: 'b', unseen: false },
  ])
  expect(pieces('')).toEqual([])
})
