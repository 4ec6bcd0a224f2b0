// Text from mail cannot act on a terminal, hide, reorder, or pass for a line of ours.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { escapeJson, escapeLine, escapeText, quoteBody } from '../../../src/cli/escape.ts'

/** Any text, with many of the characters that matter. */
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      '\u001b',
      '\u009b',
      '\u202e',
      '\u2066',
      '\u200b',
      '\ufeff',
      '\u2028',
      '\r',
      '\n',
      '\t',
      '|',
      'a',
      '\u{e0041}',
      '\u0000',
      '\u007f',
    ),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  ),
})
const unseen = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

test('a line has nothing unseen and no line break', () => {
  fc.assert(fc.property(text, (said) => !unseen.test(escapeLine(said))))
})

test('each line of a body stands behind a bar', () => {
  fc.assert(
    fc.property(text, (said) => {
      const lines = quoteBody(said)
      return lines.length > 0 && lines.every((line) => line.startsWith('|') && !unseen.test(line.replaceAll('\t', '')))
    }),
  )
})

test('a text for a terminal keeps line breaks and tabs alone', () => {
  fc.assert(fc.property(text, (said) => !unseen.test(escapeText(said).replaceAll(/[\n\t]/g, ''))))
})

test('escaped JSON is the same value', () => {
  fc.assert(
    fc.property(text, (said) => {
      const json = escapeJson(JSON.stringify({ said }, null, 2))
      expect(JSON.parse(json)).toEqual({ said })
      return !unseen.test(json.replaceAll('\n', ''))
    }),
  )
})

test('what it looks like', () => {
  expect(escapeLine('a\u001b[31mb\u202ec\u{e0041}d')).toBe('a\\u001b[31mb\\u202ec\\u{e0041}d')
  expect(quoteBody('one\r\ntwo\n\nfour\n')).toEqual(['| one', '| two', '|', '| four', '|'])
  // joiners make one sign of several, and words of Persian: they stay
  expect(escapeLine('👩\u200d💻 می\u200cخواهم')).toBe('👩\u200d💻 می\u200cخواهم')
})
