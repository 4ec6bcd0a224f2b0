// The schema as numbered migrations; a released one is never edited. Layout of mail.sqlite is described here.
//
//   account, room, member, session, listener   the registry; small, mirrored in memory (registry.ts)
//   box        a mailbox: one per account, one per session; keeps its counters
//   message    what was sent; its id is a number of the one sequence, so the table is also the log of sends
//   event      what happened to messages and dispatches; same sequence, so that one cursor covers both
//   sent       whose mail each message is: an index that follows some hundred sends behind (jobs/sent-index.ts)
//   delivery   one copy in one box; the key (box, closed, id) is the only mailbox index
//   claim      who works on account mail, until when
//   idempotency, upsert   keys of the sender
//   clock_step where the clock stood still or went back: order is the sequence, never the clock
//   alias, private, known, seen, fault   people beside their mail (people/people.ts)
//   cursor     how far each subscriber of the log has come
//   notify     desktop notifications of an account
//   agent, dispatch, attempt, lease, pointer   who may be started, what was asked for, each try, who holds agent and folder,
//              and the client's session with which an agent goes on in a folder
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
  INSERT OR REPLACE INTO meta SELECT 'sent', CAST(coalesce(max(id), 0) AS TEXT) FROM message;
  DROP INDEX message_sent;
  `,
  // imported: what a letter was known by where it came from, so that a second import adds nothing; imported_thread: threads
  // whose beginning did not come along; gone: letters that were removed, for the search index to follow
  `
  CREATE TABLE imported(id INTEGER PRIMARY KEY, at INTEGER NOT NULL, key TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE imported_thread(key TEXT PRIMARY KEY, thread INTEGER NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE gone(id INTEGER PRIMARY KEY AUTOINCREMENT, message INTEGER NOT NULL, at INTEGER NOT NULL) STRICT;
  `,
  `
  CREATE TABLE alias(
    account INTEGER NOT NULL, name TEXT NOT NULL COLLATE NOCASE, address TEXT NOT NULL, PRIMARY KEY(account, name)) WITHOUT ROWID, STRICT;
  CREATE TABLE private(account INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE known(
    account INTEGER NOT NULL, peer INTEGER NOT NULL, why TEXT NOT NULL, PRIMARY KEY(account, peer, why)) WITHOUT ROWID, STRICT;
  CREATE TABLE seen(account INTEGER PRIMARY KEY, at INTEGER NOT NULL) STRICT;
  INSERT INTO seen SELECT account, max(last_seen) FROM session WHERE ended IS NOT NULL GROUP BY account;
  CREATE TABLE fault(name TEXT PRIMARY KEY, since INTEGER NOT NULL, text TEXT NOT NULL) WITHOUT ROWID, STRICT;
  `,
  // desktop notifications of an account: on or off (null: as its kind says), when the next may be shown, how the last one fared;
  // what came before there were any is no news, while an account that is made later has no cursor until it was told
  `
  CREATE TABLE notify(
    account INTEGER PRIMARY KEY, enabled INTEGER, due INTEGER NOT NULL, shown INTEGER, failure TEXT, failed INTEGER) STRICT;
  INSERT OR REPLACE INTO cursor SELECT 'desktop:' || id,
    1 + max(coalesce((SELECT max(id) FROM message), 0), coalesce((SELECT max(id) FROM event), 0)) FROM account;
  `,
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
  // when mail starts a turn of its agent; mail that was there before anybody could be woken wakes nobody
  `
  CREATE TABLE wake_policy(box INTEGER PRIMARY KEY, policy TEXT NOT NULL, changed INTEGER NOT NULL) STRICT;
  CREATE TABLE wake(
    id INTEGER PRIMARY KEY AUTOINCREMENT, box INTEGER NOT NULL, message INTEGER NOT NULL, count INTEGER NOT NULL, outcome TEXT NOT NULL,
    door TEXT, at INTEGER NOT NULL, ms INTEGER NOT NULL, tried TEXT NOT NULL) STRICT;
  CREATE INDEX wake_box ON wake(box, id);
  CREATE TABLE wake_due(box INTEGER PRIMARY KEY, first INTEGER NOT NULL, refused TEXT NOT NULL) STRICT;
  INSERT OR REPLACE INTO cursor SELECT 'wake', id
    FROM (SELECT max(coalesce((SELECT max(id) FROM message), 0), coalesce((SELECT max(id) FROM event), 0)) AS id) WHERE id > 0;
  `,
  // what becomes of dispatches is told in the same log as what becomes of mail; what an account of the mailbox's own wrote is
  // written by its one account now: the earlier one's letters stay, its name is free
  `
  ALTER TABLE event ADD COLUMN dispatch INTEGER;
  ALTER TABLE event ADD COLUMN attempt INTEGER;
  CREATE TEMP TABLE postmaster AS SELECT id FROM account
    WHERE label = 'the mailbox itself' AND name GLOB 'postmaster*' AND can NOT LIKE '%true%' AND removed IS NULL;
  UPDATE session SET ended = last_seen WHERE ended IS NULL AND account IN (SELECT id FROM postmaster);
  UPDATE account SET removed = created WHERE id IN (SELECT id FROM postmaster);
  DROP TABLE postmaster;
  `,
]

/** The schema that this program knows, as a number: it opens stores of it and of every lower one. */
export const KNOWN_SCHEMA = MIGRATIONS.length

/** Form of search.sqlite; a file of another form is made again. */
export const SEARCH_VERSION = 3

/** search.sqlite: contentless, rebuilt from messages whenever it is missing or damaged. `who` holds the boxes that may see a row;
 * `traffic` how much went between two accounts on a day, or between one and a room, whose `peer` is below 0. */
export const SEARCH_SCHEMA = `
  CREATE TABLE IF NOT EXISTS forgotten(one INTEGER PRIMARY KEY CHECK (one = 1), id INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS progress(one INTEGER PRIMARY KEY CHECK (one = 1), id INTEGER NOT NULL, epoch TEXT NOT NULL) STRICT;
  CREATE VIRTUAL TABLE IF NOT EXISTS letter USING fts5(
    subject, body, who, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
  CREATE TABLE IF NOT EXISTS traffic(
    account INTEGER NOT NULL, peer INTEGER NOT NULL, day INTEGER NOT NULL, sent INTEGER NOT NULL, heard INTEGER NOT NULL,
    last_sent INTEGER NOT NULL, last_heard INTEGER NOT NULL, PRIMARY KEY(account, peer, day)) WITHOUT ROWID, STRICT;
`
