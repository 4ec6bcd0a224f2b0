// Tables of link.sqlite: what the link must remember beside the keys. It is made anew with each device, so it needs no migrations.
import { JOURNAL_SCHEMA } from './journal.ts'

//   meta     how often the store was opened, how far /sync has come
//   room     Matrix rooms that we are in: encryption is sticky, members as last seen
//   invite   invitations that wait for a person
//   lane     the way to one peer: its room, our stream of frames and theirs
//   item     the outbox: one message or receipt for one peer; without a frame it is queued
//   frame    what is under way: kept until the other side says that it has it
//   refused  deliveries that the other side did not take
//   held     frames that came before those in front of them; partial: the beginning of what comes in several
//   mapped   their message ids and ours
//   bound    Matrix rooms that are one with a room of the mailbox; seen: how far others have read, as the homeserver says
//   unread   events that could not be decrypted; quarantine: what came from devices that nobody has pinned
export const SCHEMA = `${JOURNAL_SCHEMA}
  CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS room(
    id TEXT PRIMARY KEY, encrypted INTEGER NOT NULL, members TEXT NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS invite(room TEXT PRIMARY KEY, sender TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS lane(
    peer TEXT PRIMARY KEY, room TEXT, stream TEXT NOT NULL, next INTEGER NOT NULL DEFAULT 1,
    their_stream TEXT, their_next INTEGER NOT NULL DEFAULT 1) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS item(
    n INTEGER PRIMARY KEY AUTOINCREMENT, peer TEXT NOT NULL, message INTEGER, receipt TEXT, frame INTEGER,
    sent INTEGER, received INTEGER) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS item_message ON item(peer, message) WHERE message IS NOT NULL;
  CREATE INDEX IF NOT EXISTS item_queue ON item(peer, n) WHERE frame IS NULL;
  CREATE INDEX IF NOT EXISTS item_frame ON item(peer, frame) WHERE frame IS NOT NULL;
  CREATE TABLE IF NOT EXISTS frame(
    peer TEXT NOT NULL, seq INTEGER NOT NULL, payload TEXT NOT NULL, room TEXT, event TEXT, txn TEXT,
    sent INTEGER, tries INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(peer, seq)) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS refused(
    message INTEGER NOT NULL, box INTEGER NOT NULL, reason TEXT NOT NULL, PRIMARY KEY(message, box)) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS held(
    peer TEXT NOT NULL, seq INTEGER NOT NULL, frame TEXT NOT NULL, PRIMARY KEY(peer, seq)) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS partial(peer TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS mapped(
    peer TEXT NOT NULL, kind TEXT NOT NULL, theirs TEXT NOT NULL, ours INTEGER NOT NULL,
    PRIMARY KEY(peer, kind, theirs)) WITHOUT ROWID, STRICT;
  CREATE INDEX IF NOT EXISTS mapped_ours ON mapped(ours);
  CREATE TABLE IF NOT EXISTS bound(room TEXT PRIMARY KEY, local TEXT NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS seen(
    room TEXT NOT NULL, user TEXT NOT NULL, event TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY(room, user)) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS unread(
    event TEXT PRIMARY KEY, room TEXT NOT NULL, sender TEXT NOT NULL, raw TEXT NOT NULL, reason TEXT NOT NULL,
    at INTEGER NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS quarantine(
    event TEXT PRIMARY KEY, peer TEXT NOT NULL, sender TEXT NOT NULL, device TEXT, fingerprint TEXT, why TEXT NOT NULL,
    at INTEGER NOT NULL) WITHOUT ROWID, STRICT;
`
