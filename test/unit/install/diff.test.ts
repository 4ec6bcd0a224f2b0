// The difference as people and patch(1) read it.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { unifiedDiff } from '../../../src/install/diff.ts'

test('a change in the middle, with what surrounds it', () => {
  const before = 'a\nb\nc\nd\ne\nf\ng\nh\n'
  expect(unifiedDiff('x', before, before.replace('e', 'E'))).toBe(
    '--- x\n+++ x\n@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n',
  )
})

test('a new file, and one without a line feed at its end', () => {
  expect(unifiedDiff('x', null, 'a\n')).toBe('--- /dev/null\n+++ x\n@@ -0,0 +1,1 @@\n+a\n')
  expect(unifiedDiff('x', 'a', 'a\n')).toBe('--- x\n+++ x\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n')
  expect(unifiedDiff('x', 'a\n', 'a\n')).toBe('')
})

/** What patch(1) would make of it. */
function patched(before: string, diff: string): string {
  const lines = before.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const out: string[] = []
  let at = 0
  for (const hunk of diff.split(/^@@ /m).slice(1)) {
    const [head = '', ...body] = hunk.replace(/\n$/, '').split('\n')
    const [, from = '0', count = '0'] = /^-(\d+),(\d+)/.exec(head) ?? []
    const start = Number(from) - (Number(count) === 0 ? 0 : 1)
    out.push(...lines.slice(at, start))
    at = start + Number(count)
    for (const [index, line] of body.entries())
      if (/^[ +]/.test(line)) out.push(line.slice(1) + (body[index + 1]?.startsWith('\\') ? '' : '\n'))
  }
  return [...out, ...lines.slice(at)].join('')
}

test('applied to what was before it gives what comes after', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', '', ' d'), { maxLength: 30 }).map((lines) => lines.join('\n'))
  fc.assert(
    fc.property(text, text, (before, after) => {
      expect(patched(before, unifiedDiff('x', before, after)) || after).toBe(before === after ? before || after : after)
    }),
  )
})
