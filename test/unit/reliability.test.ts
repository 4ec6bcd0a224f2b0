// The kept results of the hard suites have their shape, and the README's table is what they say.
import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { reliabilityTable, tableIn, withTable } from '../support/reliability.ts'
import { faultsOf, kept } from '../support/results.ts'

const path = join(import.meta.dir, '..', '..', 'README.md')
const results = kept()

test('every kept result has the shape, and the name of its suite', () => {
  for (const { file, result } of results) {
    expect([file, ...faultsOf(result)]).toEqual([file])
    expect(file).toBe(`hard-${result.suite}.json`)
    expect(Number.isNaN(Date.parse(result.at))).toBe(false)
  }
})

test('nothing that was kept was lost or wrongly let in', () => {
  expect(results.filter(({ result }) => result.lost + result.wrong > 0).map(({ file }) => file)).toEqual([])
})

test('the table in the README is current', () => {
  const table = reliabilityTable(results.map(({ result }) => result))
  const readme = readFileSync(path, 'utf8')
  expect(tableIn(readme)).not.toBeNull()
  if (process.env.UPDATE_GOLDEN) writeFileSync(path, withTable(readme, table))
  expect(tableIn(readFileSync(path, 'utf8'))).toBe(table)
})

test('a result of another shape is told apart', () => {
  expect(faultsOf({ ...results[0]?.result, lost: -1 })).toContain('/lost: Expected integer to be greater or equal to 0')
})
