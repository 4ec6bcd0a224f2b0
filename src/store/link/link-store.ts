// link.sqlite: opened by one process at a time; the journal of the keys, the outbox, and what has come in.
import type { Database } from 'bun:sqlite'
import { existsSync, statSync } from 'node:fs'
import { Refusal } from '../../wire/refusal.ts'
import { connect } from '../connect.ts'
import { ChatRows } from './chat-rows.ts'
import { Journal } from './journal.ts'
import { Outbox } from './outbox.ts'
import { SCHEMA } from './schema.ts'

/** Members: user → `join` or `invite`. */
export type RoomState = { encrypted: boolean; members: Record<string, string> }
export type Lane = { peer: string; room: string | null; stream: string; theirStream: string | null; theirNext: number }
export type Unread = { event: string; room: string; sender: string; raw: string; reason: string; at: number }
export type Quarantined = {
  event: string
  peer: string
  sender: string
  device: string | null
  fingerprint: string | null
  why: string
  at: number
}
export type MappedKind = 'message' | 'thread' | 'event'
export type Invite = { room: string; sender: string; at: number }

/** Frames of one peer that may wait for the one before them; events that may wait for their key. */
const HELD = 500
const KEPT = 500

export class LinkStore {
  readonly journal: Journal
  readonly outbox: Outbox
  readonly chat: ChatRows
  readonly #db

  private constructor(
    db: Database,
    readonly path: string,
  ) {
    this.#db = db
    this.journal = new Journal(db)
    this.outbox = new Outbox(db)
    this.chat = new ChatRows(db)
  }

  /**
   * Opens or makes the store; its file is locked until this process ends, however it ends.
   * @throws Refusal `already_running` while another process has it, `damaged_store`
   */
  static open(path: string): LinkStore {
    let db: Database | null = null
    try {
      db = connect(path, 'FULL')
      // a second process would use the same message keys once more
      db.run('PRAGMA locking_mode = EXCLUSIVE')
      db.run('PRAGMA busy_timeout = 0')
      db.run('PRAGMA wal_autocheckpoint = 1000')
      db.run(SCHEMA)
      return new LinkStore(db, path)
    } catch (error) {
      db?.close()
      if (error instanceof Error && /locked|busy/i.test(error.message))
        throw new Refusal('already_running', 'another process holds the device of this link', { lock: path })
      if (error instanceof Error && /malformed|not a database|corrupt/i.test(error.message))
        throw new Refusal('damaged_store', `the store of the link cannot be read: ${error.message}`, {}, NEW_DEVICE)
      throw error
    }
  }

  /** What tells this file from a copy of it; 0 where the system has no such number. */
  get inode(): number {
    return existsSync(this.path) ? Number(statSync(this.path).ino) : 0
  }

  meta(key: string): string | null {
    return this.#db.query<{ value: string }, [string]>('SELECT value FROM meta WHERE key = ?').get(key)?.value ?? null
  }

  setMeta(key: string, value: string): void {
    this.#db.run('INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)', [key, value])
  }

  /**
   * The mailbox whose messages this store speaks of. After a restore their numbers mean other messages: what is known of them
   * goes, what is under way as text stays.
   */
  belongTo(epoch: string): void {
    const before = this.meta('epoch')
    if (before === epoch) return
    this.#db
      .transaction(() => {
        if (before !== null) for (const table of ['mapped', 'item', 'refused']) this.#db.run(`DELETE FROM ${table}`)
        this.#db.run("DELETE FROM meta WHERE key LIKE 'read %'")
        this.setMeta('epoch', epoch)
      })
      .immediate()
  }

  rooms(): Map<string, RoomState> {
    const rows = this.#db.query<{ id: string; encrypted: number; members: string }, []>('SELECT * FROM room').all()
    return new Map(
      rows.map(({ id, encrypted, members }) => [id, { encrypted: encrypted === 1, members: JSON.parse(members) }]),
    )
  }

  /** The end of one /sync: how rooms stand, and from where the next one goes on. */
  synced(since: string, rooms: ReadonlyMap<string, RoomState | null>): void {
    this.#db
      .transaction(() => {
        for (const [id, state] of rooms)
          if (state === null) this.#db.run('DELETE FROM room WHERE id = ?', [id])
          else
            this.#db.run('INSERT OR REPLACE INTO room VALUES(?, ?, ?)', [
              id,
              state.encrypted ? 1 : 0,
              JSON.stringify(state.members),
            ])
        this.setMeta('since', since)
      })
      .immediate()
  }

  invites(): Invite[] {
    return this.#db.query<Invite, []>('SELECT room, sender, at FROM invite ORDER BY at').all()
  }

  invited(room: string, sender: string, at: number): void {
    this.#db.run('INSERT OR IGNORE INTO invite VALUES(?, ?, ?)', [room, sender, at])
  }

  uninvited(room: string): void {
    this.#db.run('DELETE FROM invite WHERE room = ?', [room])
  }

  lane(peer: string): Lane {
    const stream = `${Date.now().toString(16).padStart(12, '0')}-${crypto.randomUUID()}`
    this.#db.run('INSERT OR IGNORE INTO lane(peer, stream) VALUES(?, ?)', [peer, stream])
    const lane = this.#db
      .query<Lane, [string]>(
        'SELECT peer, room, stream, their_stream AS theirStream, their_next AS theirNext FROM lane WHERE peer = ?',
      )
      .get(peer)
    return lane ?? { peer, room: null, stream, theirStream: null, theirNext: 1 }
  }

  setRoom(peer: string, room: string | null): void {
    this.#db.run('UPDATE lane SET room = ? WHERE peer = ?', [room, peer])
  }

  /** Forgets everything that is under way to and from a peer. */
  forget(peer: string): void {
    this.#db
      .transaction(() => {
        for (const table of ['lane', 'item', 'frame', 'held', 'partial', 'mapped', 'quarantine'])
          this.#db.run(`DELETE FROM ${table} WHERE peer = ?`, [peer])
      })
      .immediate()
  }

  /** Begins anew with the stream of a peer: it has a new device, or was set up again. */
  newStream(peer: string, stream: string): void {
    this.#db
      .transaction(() => {
        this.#db.run('UPDATE lane SET their_stream = ?, their_next = 1 WHERE peer = ?', [stream, peer])
        this.#db.run('DELETE FROM held WHERE peer = ?', [peer])
        this.#db.run('DELETE FROM partial WHERE peer = ?', [peer])
      })
      .immediate()
  }

  /** False where too many wait already: the peer sends it again. */
  hold(peer: string, seq: number, frame: string): boolean {
    const row = this.#db.query<{ n: number }, [string]>('SELECT count(*) AS n FROM held WHERE peer = ?').get(peer)
    if ((row?.n ?? 0) >= HELD) return false
    this.#db.run('INSERT OR IGNORE INTO held VALUES(?, ?, ?)', [peer, seq, frame])
    return true
  }

  /** Do frames of that peer wait for one before them? */
  holds(peer: string): boolean {
    return this.#db.query('SELECT 1 FROM held WHERE peer = ? LIMIT 1').get(peer) !== null
  }

  heldFrame(peer: string, seq: number): string | null {
    const sql = 'SELECT frame FROM held WHERE peer = ? AND seq = ?'
    return this.#db.query<{ frame: string }, [string, number]>(sql).get(peer, seq)?.frame ?? null
  }

  partial(peer: string): string {
    const sql = 'SELECT text FROM partial WHERE peer = ?'
    return this.#db.query<{ text: string }, [string]>(sql).get(peer)?.text ?? ''
  }

  /** A frame is done with: the next one is awaited. `partial`: the beginning of what goes on there; '' where it is whole. */
  taken(peer: string, seq: number, partial: string): void {
    this.#db
      .transaction(() => {
        this.#db.run('UPDATE lane SET their_next = ? WHERE peer = ?', [seq + 1, peer])
        this.#db.run('DELETE FROM held WHERE peer = ? AND seq <= ?', [peer, seq])
        if (partial === '') this.#db.run('DELETE FROM partial WHERE peer = ?', [peer])
        else this.#db.run('INSERT OR REPLACE INTO partial VALUES(?, ?)', [peer, partial])
      })
      .immediate()
  }

  /** Their id of a message or a thread, and the sequence of ours. */
  map(peer: string, kind: MappedKind, theirs: string, ours: number): void {
    this.#db.run('INSERT OR IGNORE INTO mapped VALUES(?, ?, ?, ?)', [peer, kind, theirs, ours])
  }

  ours(peer: string, kind: MappedKind, theirs: string): number | null {
    const sql = 'SELECT ours FROM mapped WHERE peer = ? AND kind = ? AND theirs = ?'
    return this.#db.query<{ ours: number }, [string, string, string]>(sql).get(peer, kind, theirs)?.ours ?? null
  }

  theirs(peer: string, kind: MappedKind, ours: number): string | null {
    const sql = 'SELECT theirs FROM mapped WHERE ours = ? AND peer = ? AND kind = ?'
    return this.#db.query<{ theirs: string }, [number, string, string]>(sql).get(ours, peer, kind)?.theirs ?? null
  }

  unread(): Unread[] {
    return this.#db.query<Unread, []>('SELECT event, room, sender, raw, reason, at FROM unread ORDER BY at').all()
  }

  keepUnread(one: Unread): void {
    this.#db.run('INSERT OR REPLACE INTO unread VALUES(?, ?, ?, ?, ?, ?)', [
      one.event,
      one.room,
      one.sender,
      one.raw,
      one.reason,
      one.at,
    ])
    this.#db.run('DELETE FROM unread WHERE event NOT IN (SELECT event FROM unread ORDER BY at DESC LIMIT ?)', [KEPT])
  }

  forgetUnread(event: string): void {
    this.#db.run('DELETE FROM unread WHERE event = ?', [event])
  }

  quarantined(): Quarantined[] {
    return this.#db
      .query<Quarantined, []>(
        'SELECT event, peer, sender, device, fingerprint, why, at FROM quarantine ORDER BY at DESC LIMIT 100',
      )
      .all()
  }

  quarantine(one: Quarantined): void {
    const { event, peer, sender, device, fingerprint, why, at } = one
    this.#db.run('INSERT OR IGNORE INTO quarantine VALUES(?, ?, ?, ?, ?, ?, ?)', [
      event,
      peer,
      sender,
      device,
      fingerprint,
      why,
      at,
    ])
    this.#db.run('DELETE FROM quarantine WHERE event NOT IN (SELECT event FROM quarantine ORDER BY at DESC LIMIT ?)', [
      KEPT,
    ])
  }

  close(): void {
    this.#db.run('PRAGMA wal_checkpoint(TRUNCATE)')
    this.#db.close()
  }
}

const NEW_DEVICE = 'begin a new device: mail4agent link off, then mail4agent link setup'
