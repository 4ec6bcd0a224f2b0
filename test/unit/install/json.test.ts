// Edits of JSON: what is not ours keeps its place, its comments and its form, and what was put can be taken out again.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parse } from 'jsonc-parser'
import { Damaged } from '../../../src/install/edit/damaged.ts'
import { JsonText } from '../../../src/install/edit/json.ts'

const SERVER = { command: '/bin/m', args: ['mcp', '--as', 'x'] }

function put(text: string): string {
  const json = new JsonText(text)
  json.set(['mcpServers', 'ours'], SERVER)
  json.append(['hooks', 'Stop'], { command: 'ours' })
  return json.text
}

function drop(text: string): string {
  const json = new JsonText(text)
  json.remove(['mcpServers', 'ours'])
  const list = json.at(['hooks', 'Stop'])
  json.remove(['hooks', 'Stop', Array.isArray(list) ? list.length - 1 : 0])
  return json.text
}

describe('put and taken out again, the text is the same', () => {
  test.each([
    [
      'CRLF and comments',
      '{\r\n  // mine\r\n  "a": 1,\r\n  "mcpServers": {\r\n    "o": { "c": "x" } // keep\r\n  }\r\n}\r\n',
    ],
    ['a mark in front', '\uFEFF{\n  "a": 1\n}\n'],
    ['one line', '{"a":1,"hooks":{"Stop":[{"x":1}]}}'],
    ['one line with blanks', '{ "a": 1, "hooks": { "Stop": [ { "x": 1 } ] } }'],
    ['tabs', '{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{ "x": 1 }\n\t\t]\n\t}\n}'],
    ['four blanks', '{\n    "mcpServers": {\n        "o": {}\n    }\n}\n'],
    ['a comment at the end', '{\n  "a": 1\n  /* the end */\n}\n'],
    ['a comma at the end of its own', '{\n  "a": 1, // mine\n}\n'],
    ['commas at the end of each, on one line', '{"a":1,"hooks":{"Stop":[{"x":1},],},}'],
    ['nothing in it', '{}'],
  ])('%s', (_, text) => {
    const after = put(text)
    const eol = text.includes('\r\n') ? '\r\n' : '\n'
    expect(after.replaceAll(eol, '')).not.toMatch(/[\r\n]/)
    expect(parse(after.replace('\uFEFF', ''))).toMatchObject({ mcpServers: { ours: SERVER } })
    expect(drop(after)).toBe(text)
  })
})

test('a member with a trailing comma and a comment behind it: both stay', () => {
  const after = put('{\n  "mcpServers": {\n    "o": {}, // mine\n  },\n}\n')
  expect(after).toContain('"o": {}, // mine\n    "ours": {')
  expect(drop(after)).toBe('{\n  "mcpServers": {\n    "o": {}, // mine\n  },\n}\n')
  // also when its client put something before or behind ours meanwhile
  const edited = after.replace('{\n', '{\n  "$schema": "s",\n')
  expect(drop(edited)).toBe('{\n  "$schema": "s",\n  "mcpServers": {\n    "o": {}, // mine\n  },\n}\n')
})

test('a member in the middle goes with its own lines; comments around it stay', () => {
  const json = new JsonText('{\n  // a\n  "a": 1,\n  // ours\n  "b": 2, // of b\n  "c": 3\n}')
  json.remove(['b'])
  expect(json.text).toBe('{\n  // a\n  "a": 1,\n  // ours // of b\n  "c": 3\n}')
  expect(parse(json.text)).toEqual({ a: 1, c: 3 })
})

test('an empty text becomes an object; what is in place is not touched', () => {
  const made = put('')
  expect(made).toEndWith('}\n')
  expect(put('  \n')).toBe(made)
  const json = new JsonText(made)
  json.set(['mcpServers', 'ours'], SERVER)
  expect(json.text).toBe(made)
})

test.each([
  ['{\n  "a": 1\n  "b": 2\n}', 3],
  ['{\n  "a": \n', 2],
  ['[1]', 1],
  ['"x"', 1],
  ['// nothing\n', 1],
])('%j is left alone, and its line is named', (text, line) => {
  try {
    put(text)
  } catch (error) {
    expect(error).toBeInstanceOf(Damaged)
    if (error instanceof Damaged) expect(error.line).toBeGreaterThanOrEqual(line)
    return
  }
  throw new Error('it was edited')
})

test('something else in the way is not overwritten', () => {
  for (const text of ['{\n"mcpServers": 1}', '{\n"mcpServers": []}', '{\n"hooks": {"Stop": {}}}'])
    expect(() => put(text)).toThrow(Damaged)
})

/** Objects that do not have our names, in the forms in which programs and people write them. */
const texts = fc
  .tuple(
    fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
    fc.constantFrom(undefined, 1, 2, 4, '\t'),
    fc.constantFrom('\n', '\r\n'),
  )
  .map(([value, indent, eol]) => {
    const { mcpServers: _, hooks: __, ...rest } = value
    return JSON.stringify(rest, null, indent).replaceAll('\n', eol)
  })

test('of any object, in any form: the values are those before and ours, and the text comes back', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const after = put(text)
      const { mcpServers, hooks, ...rest } = JSON.parse(after)
      expect(rest).toEqual(JSON.parse(text))
      expect({ mcpServers, hooks }).toEqual({ mcpServers: { ours: SERVER }, hooks: { Stop: [{ command: 'ours' }] } })
      expect(drop(after)).toBe(text)
    }),
  )
})

test('of two members with one name the last is edited: it is the one that readers see', () => {
  const text = '{"mcpServers":{"x":1},"mcpServers":{"y":2}}'
  expect(JSON.parse(put(text)).mcpServers).toEqual({ y: 2, ours: SERVER })
  expect(drop(put(text))).toBe(text)
})
