// Aligned and cut on a terminal, whole and tab-separated in a pipe.
import { expect, test } from 'bun:test'
import { plain } from '../../../src/cli/paint.ts'
import { cut, facts, table } from '../../../src/cli/table.ts'

const HEAD = ['id', 'subject']

test('in a pipe nothing is cut, and a cell can add neither column nor line', () => {
  expect(
    table(
      HEAD,
      [
        ['1', 'a\tb\nc'],
        ['2', 'x'.repeat(500)],
      ],
      null,
      plain,
    ),
  ).toBe(`id\tsubject\n1\ta\\u0009b\\u000ac\n2\t${'x'.repeat(500)}\n`)
})

test('on a terminal columns are aligned by width, not by characters', () => {
  expect(
    table(
      HEAD,
      [
        ['工作', 'wide'],
        ['abcdef', 'narrow'],
      ],
      40,
      plain,
    ),
  ).toBe('id      subject\n工作    wide\nabcdef  narrow\n')
})

test('a row fits the terminal', () => {
  const lines = table(HEAD, [['1', '工'.repeat(50)]], 20, plain).split('\n')
  for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(20)
  expect(lines[1]).toEndWith('…')
})

test('a cut never splits a character', () => {
  for (let columns = 1; columns < 12; columns++) expect(cut('a👩b工c', columns).isWellFormed()).toBe(true)
  expect(cut('short', 5)).toBe('short')
})

test('facts leave out what is not known', () => {
  expect(
    facts(
      [
        ['a', 'x'],
        ['long name', 'y\nz'],
        ['b', null],
        ['c', undefined],
        ['d', ''],
      ],
      plain,
    ),
  ).toBe('a          x\nlong name  y\\u000az\n')
})
