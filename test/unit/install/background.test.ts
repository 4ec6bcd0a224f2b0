// The reason of a mailbox in the background that did not come up, out of the end of its log.
import { expect, test } from 'bun:test'
import { appendFileSync, writeFileSync } from 'node:fs'
import { lastWords, logEnd, logPath } from '../../../src/install/background.ts'
import { tempFolder } from '../../support/temp.ts'

test('what it refused, not the hint below it; else the last line; nothing where there is no log', () => {
  using folder = tempFolder()
  const said = (...lines: string[]) => {
    writeFileSync(logPath(folder.path), lines.map((line) => `${line}\n`).join(''))
    return lastWords(folder.path, 0)
  }
  expect(lastWords(folder.path, 0)).toBe('')
  expect(said('Ctrl-C stops it', 'refused: the port is taken', 'there: x', 'try: another')).toBe('the port is taken')
  expect(said('refused: an older one', ...Array.from({ length: 8 }, () => 'listens'), 'torn apart')).toBe('torn apart')
  const before = logEnd(folder.path)
  expect(lastWords(folder.path, before)).toBe('')
  appendFileSync(logPath(folder.path), 'refused: anew\n')
  expect(lastWords(folder.path, before)).toBe('anew')
})
