// A body arrives byte for byte, or is refused.
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { readBody } from '../../../src/cli/body.ts'
import { LIMITS } from '../../../src/wire/limits.ts'
import { tempFolder } from '../../support/temp.ts'
import { io, type Shell } from './shell.ts'

const read = (word: string | undefined, file: string | undefined, shell: Shell = {}) =>
  readBody(word, file, io(shell, [], []))

test('a word is the body as it is', async () => {
  for (const word of [' a ', '\n', 'a\n', '--', '\ufeffx']) expect(await read(word, undefined)).toBe(word)
})

test('standard input and a file, whatever they hold', async () => {
  using folder = tempFolder()
  const path = join(folder.path, 'body')
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.constantFrom('', '\n', '\r\n', '\n\n'),
      async (text, end) => {
        const body = `${text}${end}`
        writeFileSync(path, body)
        if (body === '') return
        expect(await read('-', undefined, { stdin: body })).toBe(body)
        expect(await read(undefined, 'body', { cwd: folder.path })).toBe(body)
      },
    ),
    { numRuns: 50 },
  )
})

test('a byte order mark stays', async () => {
  expect(await read('-', undefined, { stdin: new Uint8Array([0xef, 0xbb, 0xbf, 0x61]) })).toBe('\ufeffa')
})

test.each([[[0x61, 0xff]], [[0xc3]], [[0xed, 0xa0, 0x80]]])('%p is no UTF-8', async (bytes) => {
  await expect(read('-', undefined, { stdin: new Uint8Array(bytes) })).rejects.toMatchObject({
    kind: 'malformed',
    facts: { field: 'body' },
  })
})

test('over the limit it is refused with the limit', async () => {
  const stdin = 'x'.repeat(LIMITS.body + 1)
  await expect(read('-', undefined, { stdin })).rejects.toMatchObject({
    kind: 'too_large',
    facts: { limit: LIMITS.body },
  })
  expect(await read('-', undefined, { stdin: 'x'.repeat(LIMITS.body) })).toHaveLength(LIMITS.body)
})

test('an empty one', async () => {
  using folder = tempFolder()
  writeFileSync(join(folder.path, 'body'), '')
  const empty = { kind: 'usage', message: 'the body is empty', exit: 2 }
  await expect(read('', undefined)).rejects.toMatchObject(empty)
  await expect(read('-', undefined, { stdin: '' })).rejects.toMatchObject(empty)
  await expect(read(undefined, 'body', { cwd: folder.path })).rejects.toMatchObject(empty)
})

test('none, two, or a file that is not there', async () => {
  await expect(read(undefined, undefined)).rejects.toMatchObject({ kind: 'usage', message: 'the body is missing' })
  await expect(read('a', 'b')).rejects.toMatchObject({ kind: 'usage' })
  await expect(read(undefined, 'nothing-here')).rejects.toMatchObject({ kind: 'usage' })
})
