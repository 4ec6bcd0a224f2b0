// link.sqlite: one process at a time, and what it knows of messages ends with the mailbox that they were in.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LinkStore } from '../../../../src/store/link/link-store.ts'

const path = () => join(mkdtempSync(join(tmpdir(), 'm4a-link-')), 'link.sqlite')

test('while one has it nobody else can read it', () => {
  const at = path()
  const links = LinkStore.open(at)
  const other = new Database(at)
  expect(() => other.query('SELECT * FROM meta').all()).toThrow('locked')
  other.close()
  expect(() => LinkStore.open(at)).toThrow('another process holds the device')
  links.close()
})

test('a file that is no store is refused by name', () => {
  const at = path()
  writeFileSync(at, 'nothing of the kind'.repeat(100))
  expect(() => LinkStore.open(at)).toThrow('cannot be read')
})

test('after a restore of the mailbox no number stands for another message', () => {
  const links = LinkStore.open(path())
  links.belongTo('first')
  links.map('desk', 'message', 'theirs', 7)
  links.outbox.queue([{ peer: 'desk', message: 8 }])
  links.belongTo('first')
  expect([links.ours('desk', 'message', 'theirs'), links.outbox.counts('desk').queued]).toEqual([7, 1])
  links.belongTo('restored')
  expect([links.ours('desk', 'message', 'theirs'), links.outbox.counts('desk').queued]).toEqual([null, 0])
  links.close()
})
