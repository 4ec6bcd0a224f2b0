// A thousand old messages of a real-looking tree: each becomes one letter in its state, and what is broken is told, no more.
import { expect, test } from 'bun:test'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { collect } from '../../../../src/cli/import/aipass/collect.ts'
import { joinMail } from '../../../../src/cli/import/aipass/join.ts'
import { timeOf } from '../../../../src/cli/import/aipass/times.ts'
import { nameOf } from '../../../../src/cli/import/aipass/tree.ts'
import { Report } from '../../../../src/cli/import/report.ts'
import { makeAipassTree } from '../../../support/aipass-tree.ts'
import { tempFolder } from '../../../support/temp.ts'

/** Every name below a folder with the times and the content of what it names; links are not followed. */
const picture = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      const { mtimeMs, size, mode } = lstatSync(path)
      const content = entry.isFile() && size < 1_000_000 ? Bun.hash(readFileSync(path)) : ''
      const own = `${path} ${mtimeMs} ${size} ${mode} ${content}`
      return entry.isDirectory() ? [own, ...picture(path)] : [own]
    })
    .sort()

test('a tree of a thousand messages', () => {
  using folder = tempFolder()
  const expected = makeAipassTree(folder.path)
  const before = picture(folder.path)
  const report = new Report('aipass', true)
  const { mail, contacts } = collect(folder.path, report)
  const { letters, repeated } = joinMail(mail)
  expect(picture(folder.path)).toEqual(before)

  const bodies = new Map(letters.map(({ letter }) => [letter.key, letter.body]))
  const found = letters
    .filter(({ letter }) => !letter.body.includes('\0'))
    .map(({ letter }) => [
      letter.body,
      {
        from: letter.from,
        subject: letter.subject,
        created: letter.created_at_unix_ms,
        copies: Object.fromEntries(letter.deliveries.map(({ to, state }) => [to, state])),
        replyTo: letter.reply_to == null ? null : (bodies.get(letter.reply_to) ?? 'unknown'),
      },
    ])
  expect(found).toHaveLength(expected.letters.size)
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected.letters))
  expect(repeated).toBe(expected.repeated)
  expect(report.changed).toHaveLength(expected.changed)
  const problems = report.problems.map(({ at, reason }) => [relative(folder.path, at), reason] as const)
  // that of a NUL is told by the mailbox
  const told = [...expected.problems].filter(([, reason]) => !reason.startsWith('body'))
  expect(problems.map(([at]) => at).sort()).toEqual(told.map(([at]) => at).sort())
  for (const [at, reason] of problems) expect(reason).toStartWith(expected.problems.get(at)!)
  expect(contacts).toEqual([
    { name: 'outsider', project: 'Other' },
    { name: 'drone', project: 'AIPass' },
  ])
  // an answer comes after what it answers
  const order = new Map(letters.map(({ letter }, at) => [letter.key, at]))
  for (const { letter } of letters)
    if (letter.reply_to != null) expect(order.get(letter.reply_to)!).toBeLessThan(order.get(letter.key)!)
})

test.each([
  ['2026-11-30T12:00:00Z', Date.UTC(2026, 10, 30, 12)],
  ['2026-11-30 12:00:00 +0530', Date.UTC(2026, 10, 30, 6, 30)],
  ['2026-11-30T12:00:00.987654+01:00', Date.UTC(2026, 10, 30, 11, 0, 0, 987)],
  ['2026-11-30 12:00 UTC', Date.UTC(2026, 10, 30, 12)],
  ['Mon, 30 Nov 2026 12:00:00 +0100', Date.UTC(2026, 10, 30, 11)],
  [1_790_000_000, 1_790_000_000_000],
  [1_790_000_000_123, 1_790_000_000_123],
  ['1790000000.5', 1_790_000_000_500],
  ['2026-11-30 12:00:00', new Date(2026, 10, 30, 12).getTime()],
  ['20261130_120000', new Date(2026, 10, 30, 12).getTime()],
  ['2026/11/30', new Date(2026, 10, 30).getTime()],
  ['2026-02-30 12:00:00', null],
  ['2026-11-30 25:00:00', null],
  ['yesterday', null],
  ['12', null],
  ['', null],
  [Number.NaN, null],
  [0, null],
  [null, null],
  [{}, null],
])('the time %p', (text, ms) => {
  expect(timeOf(text)).toBe(ms)
})

test.each([
  ['@devpulse', 'devpulse'],
  ['devpulse', 'devpulse'],
  ['/home/x/src/DevPulse/', 'devpulse'],
  ['@two words', 'two-words'],
  ['@Ünïcode', '-n-code'],
  ['', null],
  ['@', null],
  [7, null],
])('the address %p', (address, name) => {
  expect(nameOf(address)).toBe(name)
})
