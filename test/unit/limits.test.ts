// The table of limits in the README is what the limits are.
import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { limitsIn, limitsTable, withLimits } from '../support/limits.ts'

const path = join(import.meta.dir, '..', '..', 'README.md')

test('the table in the README is current', () => {
  if (process.env.UPDATE_GOLDEN) writeFileSync(path, withLimits(readFileSync(path, 'utf8')))
  expect(limitsIn(readFileSync(path, 'utf8'))).toBe(limitsTable())
})
