// How the mailbox ends under a service manager: which failures it is started again after, and when it is enough.
import { describe, expect, test } from 'bun:test'
import { fstatSync } from 'node:fs'
import { errIsJournal, exitFor, forgetStarts, managerNamed, tooManyStarts } from '../../../src/cli/under-manager.ts'
import { Refusal } from '../../../src/wire/refusal.ts'
import { tempFolder } from '../../support/temp.ts'

test('what a person has to mend is told apart from what may pass', () => {
  const newer = new Refusal('newer_store', 'the store is newer')
  const taken = new Refusal('port_taken', 'the port is taken')
  expect(exitFor('systemd', newer)).toBe(78)
  expect(exitFor('launchd', newer)).toBe(0)
  for (const manager of ['systemd', 'launchd', 'windows'] as const) expect(exitFor(manager, taken)).toBe(1)
})

test('an unknown manager is usage', () => {
  expect(managerNamed(undefined)).toBeNull()
  expect(managerNamed('launchd')).toBe('launchd')
  expect(() => managerNamed('upstart')).toThrow('one of systemd, launchd, windows')
})

describe('starts are counted where the manager does not', () => {
  test('the sixth within two minutes is too many; a good end forgets them', () => {
    using folder = tempFolder()
    const at = (second: number) => tooManyStarts(folder.path, 1_000_000 + second * 1_000)
    for (const second of [0, 10, 20, 30, 40]) expect(at(second)).toBeNull()
    expect(at(50)).toBe('started 6 times within 2 minutes')
    forgetStarts(folder.path)
    expect(at(60)).toBeNull()
    // spread out they are no loop
    for (let second = 100; second < 1_000; second += 30) expect(at(second)).toBeNull()
  })

  test('a record that is damaged, or a folder that is not there, stops nothing', async () => {
    using folder = tempFolder()
    await Bun.write(`${folder.path}/starts.json`, '{"no')
    expect(tooManyStarts(folder.path, 1)).toBeNull()
    expect(tooManyStarts(`${folder.path}/nowhere`, 1)).toBeNull()
  })
})

test('the journal is known by the device and inode of standard error', () => {
  const { dev, ino } = fstatSync(2)
  expect(errIsJournal({ JOURNAL_STREAM: `${dev}:${ino}` })).toBe(true)
  expect(errIsJournal({ JOURNAL_STREAM: `${dev}:${ino + 1}` })).toBe(false)
  expect(errIsJournal({})).toBe(false)
})
