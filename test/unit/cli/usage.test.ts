// Words that were meant as other words, and numbers and times on the command line.
import { expect, test } from 'bun:test'
import { nearest, seconds, wholeNumber } from '../../../src/cli/usage.ts'
import { Refusal } from '../../../src/wire/refusal.ts'

const NAMES = ['send', 'sent', 'serve', 'inbox', 'receipts', 'admin account add']

test.each([
  ['snd', 'send'],
  ['SEND', 'send'],
  ['ibnox', 'inbox'],
  ['recipts', 'receipts'],
  ['rec', 'receipts'],
  ['admin acount add', 'admin account add'],
])('%s is meant as %s', (word, name) => expect(nearest(word, NAMES)).toBe(name))

test.each(['xyzzy', '', 'x'])('%s is meant as nothing', (word) => expect(nearest(word, NAMES)).toBe(null))

test.each([
  ['90', 90],
  ['90s', 90],
  ['10m', 600],
  ['2h', 7_200],
  ['1d', 86_400],
  ['1w', 604_800],
  ['0', 0],
])('%s is %d seconds', (text, expected) => expect(seconds('--wait', text)).toBe(expected))

test.each(['', '-1', '1.5', '10 m', 'soon', '1y', '9999999999'])('%s is no time', (text) => {
  expect(() => seconds('--wait', text)).toThrow(Refusal)
})

test('a whole number has its range', () => {
  expect(wholeNumber('--limit', '256', 1, 256)).toBe(256)
  for (const text of ['0', '257', '-1', '1e2', '0x10', '1.0', ''])
    expect(() => wholeNumber('--limit', text, 1, 256)).toThrow('--limit takes a whole number, 1 to 256')
})
