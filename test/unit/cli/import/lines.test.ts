// Lines of a file that is carried in: numbered, whatever is wrong with one of them.
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { linesOf } from '../../../../src/cli/import/lines.ts'
import { tempFolder } from '../../../support/temp.ts'

async function read(content: string | Uint8Array) {
  using folder = tempFolder()
  const path = join(folder.path, 'lines')
  writeFileSync(path, content)
  return await Array.fromAsync(linesOf(path)) // before the folder goes
}

test('empty lines are counted and passed over, and the last needs no end', async () => {
  expect(await read('a\n\n \r\nb\r\nä👩')).toEqual([
    { number: 1, text: 'a' },
    { number: 4, text: 'b\r' },
    { number: 5, text: 'ä👩' },
  ])
  expect(await read('')).toEqual([])
})

test('a character that lies across two pieces of the file is whole', async () => {
  const line = `${'x'.repeat(1_048_575)}👩`
  expect(await read(`${line}\n${line}`)).toEqual([
    { number: 1, text: line },
    { number: 2, text: line },
  ])
})

test('what is no text, or far too long, is told by its number, and the others go on', async () => {
  const long = Buffer.alloc(9 * 1_048_576, 'x')
  const bytes = Buffer.concat([Buffer.from('a\n'), Buffer.from([0xff, 0x0a]), long, Buffer.from('\nb\n')])
  expect(await read(bytes)).toEqual([
    { number: 1, text: 'a' },
    { number: 2, fault: 'is no UTF-8' },
    { number: 3, fault: 'is longer than 8388608 bytes' },
    { number: 4, text: 'b' },
  ])
})
