// Write jobs of the registry: accounts, rooms, members, listeners, subscriber cursors; and the probe of the disk.
import type { Context } from './context.ts'
import type { JobOf, Results } from './job.ts'

export function registryJobs(context: Context): {
  addAccount(job: JobOf<'addAccount'>): Results['addAccount']
  changeAccount(job: JobOf<'changeAccount'>): null
  removeAccount(job: JobOf<'removeAccount'>): null
  addRoom(job: JobOf<'addRoom'>): Results['addRoom']
  removeRoom(job: JobOf<'removeRoom'>): null
  join(job: JobOf<'join'>): null
  leave(job: JobOf<'leave'>): null
  setListener(job: JobOf<'setListener'>): null
  clearListener(job: JobOf<'clearListener'>): null
  setCursor(job: JobOf<'setCursor'>): null
  probe(job: JobOf<'probe'>): null
} {
  const { db } = context
  const taken = (table: 'account' | 'room') =>
    db.prepare<{ id: number }, [string]>(`SELECT id FROM ${table} WHERE name = ? AND removed IS NULL`)
  const accountTaken = taken('account')
  const roomTaken = taken('room')
  const box = db.prepare<{ id: number }, []>('INSERT INTO box DEFAULT VALUES RETURNING id')
  const addAccount = db.prepare<{ id: number }, (string | number | null)[]>(
    'INSERT INTO account(name, label, kind, can, digest, box, created) VALUES(?, ?, ?, ?, ?, ?, ?) RETURNING id',
  )
  const changeAccount = db.prepare('UPDATE account SET label = ?, kind = ?, can = ?, digest = ? WHERE id = ?')
  // the digest goes too: a removed secret must not be found again
  const removeAccount = db.prepare("UPDATE account SET removed = ?, digest = 'removed:' || id WHERE id = ?")
  const leaveAll = db.prepare('DELETE FROM member WHERE account = ?')
  const addRoom = db.prepare<{ id: number }, [string, string | null, number]>(
    'INSERT INTO room(name, label, created) VALUES(?, ?, ?) RETURNING id',
  )
  const removeRoom = db.prepare('UPDATE room SET removed = ? WHERE id = ?')
  const emptyRoom = db.prepare('DELETE FROM member WHERE room = ?')
  const members = db.prepare<{ account: number; box: number }, [number]>(
    'SELECT m.account, a.box FROM member m JOIN account a ON a.id = m.account WHERE m.room = ?',
  )
  const join = db.prepare('INSERT OR IGNORE INTO member(room, account) VALUES(?, ?)')
  const leave = db.prepare('DELETE FROM member WHERE room = ? AND account = ?')
  const boxes = db.prepare<{ box: number }, [number]>('SELECT DISTINCT box FROM session WHERE account = ?')
  const rows = db.prepare<{ id: number; account: number; senderBox: number }, [number, number, number]>(
    `SELECT d.id, m.account, m.sender_box AS senderBox FROM delivery d JOIN message m ON m.id = d.id
     WHERE d.box = ? AND d.closed = ? AND d.kind = 2 AND d.room = ?`,
  )
  // closed 2 is out of sight of every reader; joining again brings it back
  // and what nobody had opened is told anew
  const turn = db.prepare(
    'UPDATE delivery SET closed = ?1, notified = iif(?1 = 0 AND opened IS NULL, NULL, notified) WHERE box = ?2 AND closed = ?3 AND id = ?4',
  )
  const setListener = db.prepare(
    'INSERT OR REPLACE INTO listener(account, url, key, coalesce, created) VALUES(?, ?, ?, ?, ?)',
  )
  const clearListener = db.prepare('DELETE FROM listener WHERE account = ?')
  const setCursor = db.prepare('INSERT OR REPLACE INTO cursor(subscriber, id) VALUES(?, ?)')
  const clearCursor = db.prepare('DELETE FROM cursor WHERE subscriber = ?')
  const probe = db.prepare("INSERT OR REPLACE INTO meta(key, value) VALUES('probe', ?)")

  /** Hides the open letters of a room from an account that leaves it, or shows them again. */
  function show(room: number, account: number, accountBox: number, visible: boolean): void {
    const [from, to] = visible ? [2, 0] : [0, 2]
    for (const where of [accountBox, ...boxes.all(account).map((row) => row.box)])
      for (const row of rows.all(where, from, room)) {
        turn.run(to, where, from, row.id)
        context.counted(where, visible ? 1 : -1)
        if (where === accountBox && row.account === account) context.countedOwn(row.senderBox, visible ? 1 : -1)
      }
  }

  return {
    addAccount(job) {
      if (accountTaken.get(job.name)) return null
      const mailbox = box.get()?.id ?? 0
      const row = addAccount.get(job.name, job.label, job.kind, job.can, job.digest, mailbox, job.at)
      return { id: row?.id ?? 0, box: mailbox }
    },
    changeAccount(job) {
      changeAccount.run(job.label, job.kind, job.can, job.digest, job.id)
      return null
    },
    removeAccount(job) {
      removeAccount.run(job.at, job.id)
      leaveAll.run(job.id)
      clearListener.run(job.id)
      return null
    },
    addRoom(job) {
      if (roomTaken.get(job.name)) return null
      return { id: addRoom.get(job.name, job.label, job.at)?.id ?? 0 }
    },
    removeRoom(job) {
      for (const member of members.all(job.id)) show(job.id, member.account, member.box, false)
      removeRoom.run(job.at, job.id)
      emptyRoom.run(job.id)
      return null
    },
    join(job) {
      if (join.run(job.room, job.account).changes > 0) show(job.room, job.account, job.box, true)
      return null
    },
    leave(job) {
      if (leave.run(job.room, job.account).changes > 0) show(job.room, job.account, job.box, false)
      return null
    },
    setListener(job) {
      setListener.run(job.account, job.url, job.key, job.coalesce ? 1 : 0, job.at)
      return null
    },
    clearListener(job) {
      clearListener.run(job.account)
      return null
    },
    setCursor(job) {
      if (job.id === null) clearCursor.run(job.subscriber)
      else setCursor.run(job.subscriber, job.id)
      return null
    },
    probe(job) {
      probe.run(String(job.at))
      return null
    },
  }
}
