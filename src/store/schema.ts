// The schema as numbered migrations; a released one is never edited. Layout of mail.sqlite is described here.
//
//   account, room, member, session, listener   the registry; small, mirrored in memory (registry.ts)
//   box        a mailbox: one per account, one per session; keeps its counters
//   message    what was sent; its id is a number of the one sequence, so the table is also the log of sends
//   event      what happened to messages; same sequence, so that one cursor covers both
//   delivery   one copy in one box; the key (box, closed, id) is the only mailbox index
//   claim      who works on account mail, until when
//   idempotency, upsert   keys of the sender
//   clock_step where the clock stood still or went back: order is the sequence, never the clock
//   cursor     how far each subscriber of the log has come
//   agent, dispatch, attempt, lease, pointer   who may be started, what was asked for, each try, who holds agent and folder,
//              and the client's session with which an agent goes on in a folder

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
  `
  CREATE TABLE agent(
    account INTEGER PRIMARY KEY, profile TEXT NOT NULL, paused TEXT, paused_at INTEGER, created INTEGER NOT NULL) STRICT;
  CREATE TABLE dispatch(
    id INTEGER PRIMARY KEY AUTOINCREMENT, agent INTEGER NOT NULL, by_account INTEGER NOT NULL, by_box INTEGER NOT NULL,
    message INTEGER, thread INTEGER, fresh INTEGER NOT NULL, depth INTEGER NOT NULL, parent INTEGER, back_of INTEGER,
    state TEXT NOT NULL, outcome TEXT, reason TEXT, created INTEGER NOT NULL, ready INTEGER NOT NULL, started INTEGER,
    ended INTEGER, stop TEXT, reply INTEGER, bounce INTEGER) STRICT;
  CREATE INDEX dispatch_open ON dispatch(id) WHERE state <> 'done';
  CREATE INDEX dispatch_agent ON dispatch(agent, created);
  CREATE UNIQUE INDEX dispatch_message ON dispatch(message, agent) WHERE message IS NOT NULL;
  CREATE UNIQUE INDEX dispatch_back ON dispatch(back_of) WHERE back_of IS NOT NULL;
  CREATE TABLE attempt(
    dispatch INTEGER NOT NULL, number INTEGER NOT NULL, run TEXT NOT NULL, fence INTEGER NOT NULL, digest TEXT NOT NULL,
    provider TEXT NOT NULL, mode TEXT NOT NULL, session TEXT, planned INTEGER NOT NULL, pid INTEGER, start TEXT, boot TEXT,
    spawned INTEGER, healthy INTEGER, ended INTEGER, cause TEXT, detail TEXT, exit INTEGER, signal TEXT, forced INTEGER NOT NULL,
    leftover INTEGER NOT NULL, cost REAL, turns INTEGER, tokens INTEGER, tail TEXT, PRIMARY KEY(dispatch, number)) WITHOUT ROWID, STRICT;
  CREATE INDEX attempt_open ON attempt(fence) WHERE ended IS NULL;
  CREATE TABLE lease(
    agent INTEGER PRIMARY KEY, folder TEXT NOT NULL UNIQUE, dispatch INTEGER NOT NULL, fence INTEGER NOT NULL, at INTEGER NOT NULL) STRICT;
  CREATE TABLE pointer(
    agent INTEGER NOT NULL, folder TEXT NOT NULL, provider TEXT NOT NULL, session TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY(agent, folder, provider)) WITHOUT ROWID, STRICT;
  `,
]

/** search.sqlite: contentless, rebuilt from messages whenever it is missing or damaged. `who` holds the boxes that may see a row. */
export const SEARCH_SCHEMA = `
  CREATE TABLE IF NOT EXISTS progress(one INTEGER PRIMARY KEY CHECK (one = 1), id INTEGER NOT NULL, epoch TEXT NOT NULL) STRICT;
  CREATE VIRTUAL TABLE IF NOT EXISTS letter USING fts5(
    subject, body, who, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
`
