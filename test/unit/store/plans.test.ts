// The plans of the hot queries: each walks one index and sorts nothing, so that its cost does not grow with the mailbox.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { BY_PREFIX } from '../../../src/store/load.ts'
import { migrate } from '../../../src/store/migrate.ts'
import { SQL as ARCHIVE } from '../../../src/store/reads/archive.ts'
import { SQL as LEDGER } from '../../../src/store/reads/ledger.ts'
import { SQL as LOG } from '../../../src/store/reads/log.ts'
import { SQL as MESSAGES } from '../../../src/store/reads/messages.ts'
import { SQL as PAGES } from '../../../src/store/reads/pages.ts'

const db = new Database(':memory:')
migrate(db, null)

const plan = (sql: string): string =>
  db
    .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map((row) => row.detail)
    .join('; ')

const OWN = 'LIST SUBQUERY 1; SCAN json_each VIRTUAL TABLE INDEX 1:; CREATE BLOOM FILTER; REUSE LIST SUBQUERY 1'
const KEY = 'SEARCH d USING PRIMARY KEY (box=? AND closed=? AND id>?); SEARCH m USING INTEGER PRIMARY KEY (rowid=?)'
const BEFORE = KEY.replace('id>?', 'id<?')

test.each([
  ['a page', PAGES.open, KEY],
  [
    'closed mail of the account',
    PAGES.accountClosed,
    `${KEY}; CORRELATED SCALAR SUBQUERY 1; SEARCH x USING PRIMARY KEY (box=? AND closed=? AND id=?)`,
  ],
  ['unread', PAGES.counts, 'SEARCH box USING INTEGER PRIMARY KEY (rowid=?)'],
  [
    'the oldest open letter',
    PAGES.oldest,
    'SEARCH d USING PRIMARY KEY (box=? AND closed=?); SEARCH m USING INTEGER PRIMARY KEY (rowid=?)',
  ],
  ['orphans', PAGES.orphans, 'SEARCH delivery USING PRIMARY KEY (box=? AND closed=?)'],
  ['one message', MESSAGES.message, 'SEARCH message USING INTEGER PRIMARY KEY (rowid=?)'],
  ['one copy', MESSAGES.delivery, 'SEARCH delivery USING PRIMARY KEY (box=? AND closed=? AND id=?)'],
  [
    'sessions by a prefix',
    `SELECT name FROM session WHERE ${BY_PREFIX}`,
    'SEARCH session USING COVERING INDEX session_name (account=? AND name>? AND name<?)',
  ],
  [
    'a key',
    MESSAGES.keyed,
    'SEARCH i USING PRIMARY KEY (account=? AND key=?); SEARCH m USING INTEGER PRIMARY KEY (rowid=?)',
  ],
  ['archived mail of a session', ARCHIVE.own, BEFORE],
  [
    'archived mail of the account',
    ARCHIVE.account,
    `${BEFORE}; CORRELATED SCALAR SUBQUERY 1; SEARCH x USING PRIMARY KEY (box=? AND closed=? AND id=?)`,
  ],
  ['every message', ARCHIVE.messages, 'SEARCH message USING INTEGER PRIMARY KEY (rowid>?)'],
  ['what was imported', ARCHIVE.imported, 'SEARCH imported USING COVERING INDEX sqlite_autoindex_imported_1 (key=?)'],
  [
    'sent mail',
    MESSAGES.sent,
    `SEARCH sent USING PRIMARY KEY (account=? AND id<?); SEARCH message USING INTEGER PRIMARY KEY (rowid=?); ${OWN}`,
  ],
  [
    'sent mail that is not indexed yet',
    MESSAGES.sentLately,
    `SEARCH message USING INTEGER PRIMARY KEY (rowid>? AND rowid<?); ${OWN}`,
  ],
  ['any box, newest first', LEDGER.newest, 'SEARCH delivery USING PRIMARY KEY (box=? AND closed=? AND id<?)'],
  ['all messages, newest first', LEDGER.messages, 'SEARCH message USING INTEGER PRIMARY KEY (rowid<?)'],
  [
    'all of one account',
    LEDGER.sentBy,
    'SEARCH message USING INTEGER PRIMARY KEY (rowid=?); LIST SUBQUERY 1; SEARCH sent USING PRIMARY KEY (account=? AND id<?)',
  ],
  ['its latest', LEDGER.sentLately, 'SEARCH message USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)'],
  ['a thread', MESSAGES.thread, 'SEARCH message USING INDEX message_thread (thread=? AND id>?)'],
])('%s', (_name, sql, expected) => {
  expect(plan(sql)).toBe(expected)
})

test('events are merged from two logs without sorting', () => {
  expect(plan(LOG.events)).toContain('SEARCH event USING INTEGER PRIMARY KEY (rowid>?)')
  expect(plan(LOG.events)).toContain('SEARCH message USING INTEGER PRIMARY KEY (rowid>?)')
  expect(plan(LOG.events)).not.toContain('TEMP B-TREE')
})
