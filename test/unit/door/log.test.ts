// The log: one line each, no value can forge another.
import { expect, test } from 'bun:test'
import { openLog } from '../../../src/door/log.ts'

function linesOf(human: boolean, level: 'debug' | 'info' | 'warn' = 'info') {
  const lines: string[] = []
  return { lines, log: openLog({ human, level, write: (line) => lines.push(line) }) }
}

test('logfmt quotes what is not one plain word', () => {
  const { lines, log } = linesOf(false)
  log.warn('two words', { a: 'x', b: 'a b', c: 'evil\nlevel=error', d: 3, e: undefined, f: '', g: '"' })
  expect(lines[0]).toMatch(
    /^time=\S+ level=warn msg="two words" a=x b="a b" c="evil\\nlevel=error" d=3 f="" g="\\""\n$/,
  )
})

test('a person gets a short line, still one', () => {
  const { lines, log } = linesOf(true)
  log.info('hello\nthere', { a: 1 })
  log.error('bad')
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d hello there a=1\n$/)
  expect(lines[1]).toMatch(/^\d\d:\d\d:\d\d error: bad\n$/)
})

test('lower levels are left out', () => {
  const { lines, log } = linesOf(false, 'warn')
  log.debug('a')
  log.info('b')
  log.warn('c')
  expect(lines).toHaveLength(1)
})
