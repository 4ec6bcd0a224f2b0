// The schema as numbered migrations; a released one is never edited. Layout of mail.sqlite is described here.
//
//   account, room, member, session, listener   the registry; small, mirrored in memory (registry.ts)
//   box        a mailbox: one per account, one per session; keeps its counters
//   message    what was sent; its id is a number of the one sequence, so the table is also the log of sends
//   event      what happened to messages; same sequence, so that one cursor covers both
//   sent       whose mail each message is: an index that follows some hundred sends behind (jobs/sent-index.ts)
//   delivery   one copy in one box; the key (box, closed, id) is the only mailbox index
//   claim      who works on account mail, until when
//   idempotency, upsert   keys of the sender
//   clock_step where the clock stood still or went back: order is the sequence, never the clock
//   cursor     how far each subscriber of the log has come
//   wake_policy, wake, wake_due   when mail wakes an agent, what became of it, and what has not woken anybody yet; by box

export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE box(
    id INTEGER PRIMARY KEY AUTOINCREMENT, open INTEGER NOT NULL DEFAULT 0, own INTEGER NOT NULL DEFAULT 0) STRICT;
  CREATE TABLE account(
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL COLLATE NOCASE, label TEXT, kind TEXT NOT NULL, can TEXT NOT NULL,
    digest TEXT NOT NULL, box INTEGER NOT NULL, created INTEGER NOT NULL, removed INTEGER) STRICT;
  CREATE UNIQUE INDEX account_name ON account(name) WHERE removed IS NULL;
  CREATE UNIQUE INDEX account_digest ON account(digest) WHERE removed IS NULL;
  CREATE TABLE room(
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL COLLATE NOCASE, label TEXT, created INTEGER NOT NULL, removed INTEGER) STRICT;
  CREATE UNIQUE INDEX room_name ON room(name) WHERE removed IS NULL;
  CREATE TABLE member(room INTEGER NOT NULL, account INTEGER NOT NULL, PRIMARY KEY(room, account)) WITHOUT ROWID, STRICT;
  CREATE TABLE session(
    id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, name TEXT NOT NULL, box INTEGER NOT NULL,
    instance TEXT NOT NULL, conversation TEXT, provider_session TEXT, attested TEXT NOT NULL, corroborated TEXT NOT NULL,
    declared TEXT NOT NULL, first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL, ended INTEGER, successor INTEGER,
    given INTEGER NOT NULL DEFAULT 0, opened INTEGER NOT NULL DEFAULT 0) STRICT;
  CREATE UNIQUE INDEX session_name ON session(account, name);
  CREATE INDEX session_box ON session(box);
  CREATE INDEX session_live ON session(account) WHERE ended IS NULL;
  CREATE INDEX session_provider ON session(account, provider_session) WHERE provider_session IS NOT NULL;
  CREATE TABLE message(
    id INTEGER PRIMARY KEY, random TEXT NOT NULL, account INTEGER NOT NULL, sender_box INTEGER NOT NULL, scope INTEGER NOT NULL,
    thread INTEGER NOT NULL, parent INTEGER, created INTEGER NOT NULL, hop INTEGER NOT NULL, recipients TEXT NOT NULL, json TEXT NOT NULL) STRICT;
  CREATE INDEX message_sent ON message(account, id);
  CREATE INDEX message_thread ON message(thread, id) WHERE parent IS NOT NULL;
  CREATE TABLE delivery(
    box INTEGER NOT NULL, closed INTEGER NOT NULL, id INTEGER NOT NULL, kind INTEGER NOT NULL, room INTEGER NOT NULL,
    notified INTEGER, opened INTEGER, opened_by INTEGER, closed_at INTEGER, closed_by INTEGER, reason TEXT,
    updates INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(box, closed, id)) WITHOUT ROWID, STRICT;
  CREATE TABLE event(
    id INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, message INTEGER NOT NULL, account INTEGER NOT NULL,
    session INTEGER, reason TEXT) STRICT;
  CREATE TABLE claim(
    box INTEGER NOT NULL, id INTEGER NOT NULL, session INTEGER NOT NULL, until INTEGER NOT NULL, PRIMARY KEY(box, id)) WITHOUT ROWID, STRICT;
  CREATE TABLE idempotency(
    account INTEGER NOT NULL, key TEXT NOT NULL, id INTEGER NOT NULL, hash TEXT NOT NULL, PRIMARY KEY(account, key)) WITHOUT ROWID, STRICT;
  CREATE TABLE upsert(
    account INTEGER NOT NULL, box INTEGER NOT NULL, key TEXT NOT NULL, id INTEGER NOT NULL, updates INTEGER NOT NULL,
    PRIMARY KEY(account, box, key)) WITHOUT ROWID, STRICT;
  CREATE TABLE clock_step(id INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE cursor(subscriber TEXT PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE listener(
    account INTEGER PRIMARY KEY, url TEXT NOT NULL, key TEXT NOT NULL, coalesce INTEGER NOT NULL, created INTEGER NOT NULL) STRICT;
  `,
  // up to which letter the session was told of its mail by a notice: told once, never again
  'ALTER TABLE session ADD COLUMN told INTEGER NOT NULL DEFAULT 0',
  // an index entry in every send costs a page of the log for each sender in a batch: now it is written for many sends at once
  `
  CREATE TABLE sent(account INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY(account, id)) WITHOUT ROWID, STRICT;
  INSERT INTO sent SELECT account, id FROM message ORDER BY account, id;
  INSERT OR REPLACE INTO cursor SELECT 'sent', coalesce(max(id), 0) FROM message;
  DROP INDEX message_sent;
  `,
  // when mail starts a turn of its agent; mail that was there before anybody could be woken wakes nobody
  `
  CREATE TABLE wake_policy(box INTEGER PRIMARY KEY, policy TEXT NOT NULL, changed INTEGER NOT NULL) STRICT;
  CREATE TABLE wake(
    id INTEGER PRIMARY KEY AUTOINCREMENT, box INTEGER NOT NULL, message INTEGER NOT NULL, count INTEGER NOT NULL, outcome TEXT NOT NULL,
    door TEXT, at INTEGER NOT NULL, ms INTEGER NOT NULL, tried TEXT NOT NULL) STRICT;
  CREATE INDEX wake_box ON wake(box, id);
  CREATE TABLE wake_due(box INTEGER PRIMARY KEY, first INTEGER NOT NULL, refused TEXT NOT NULL) STRICT;
  INSERT OR REPLACE INTO cursor SELECT 'wake', max(coalesce((SELECT max(id) FROM message), 0), coalesce((SELECT max(id) FROM event), 0));
  `,
]

/** search.sqlite: contentless, rebuilt from messages whenever it is missing or damaged. `who` holds the boxes that may see a row. */
export const SEARCH_SCHEMA = `
  CREATE TABLE IF NOT EXISTS progress(one INTEGER PRIMARY KEY CHECK (one = 1), id INTEGER NOT NULL, epoch TEXT NOT NULL) STRICT;
  CREATE VIRTUAL TABLE IF NOT EXISTS letter USING fts5(
    subject, body, who, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
`
