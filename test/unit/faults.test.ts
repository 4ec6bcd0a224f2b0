// The tables of test/README.md, earlier faults and complaints about others: every test that they name is there.
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dir, '..')
const table = readFileSync(join(folder, 'README.md'), 'utf8')
const rows = table.split('\n').filter((line) => /^\| [LFP]\d/.test(line))

test('every fault and every complaint has a row', () => {
  const told = rows.flatMap((row) => row.split('|')[1]?.match(/[LFP]\d+/g) ?? [])
  const all = [
    ...Array.from({ length: 56 }, (_, at) => `L${at + 1}`),
    ...Array.from({ length: 45 }, (_, at) => `F${at + 1}`),
    ...Array.from({ length: 114 }, (_, at) => `P${at + 1}`),
  ]
  expect(told).toEqual(all)
})

test('every row has a test or a sentence', () => {
  expect(rows.length).toBeGreaterThan(50)
  for (const row of rows) expect(row.split('|')[3]?.trim().length).toBeGreaterThan(10)
})

test('every test that is named exists', () => {
  const missing = rows.flatMap((row) =>
    [...row.matchAll(/`([\w/-]+\.test\.ts) › ?([^`]*)`/g)]
      .filter(([, path = '', name = '']) => {
        const file = join(folder, path)
        return name.trim() === '' || !existsSync(file) || !readFileSync(file, 'utf8').includes(name)
      })
      .map(([named]) => `${row.split('|')[1]?.trim()}: ${named}`),
  )
  expect(missing).toEqual([])
})
