// A real store in memory with accounts, sessions and sends, as the tests of delivery/ need them; and a real listener.
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { fragmentOf } from '../../../src/engine/fragment.ts'
import { openStore } from '../../../src/store/open.ts'
import type { AccountRow, Recipient, RoomRow, SessionRow } from '../../../src/store/rows.ts'
import { KIND } from '../../../src/store/rows.ts'
import type { SendOutcome, Store } from '../../../src/store/store.ts'
import type { Address } from '../../../src/wire/address.ts'

export type Office = {
  store: Store
  account(name: string): Promise<AccountRow>
  session(account: AccountRow): Promise<SessionRow>
  room(name: string, ...members: AccountRow[]): Promise<RoomRow>
  send(from: SessionRow, to: Recipient[], more?: More): Promise<SendOutcome>
}
export type More = { hop?: number; suppressed?: string; upsert?: string }

let serial = 0
const can = { send: true, read: true, dispatch: false, behalf: false, operator: false }

export async function openOffice(path = ':memory:'): Promise<Office> {
  const store = await openStore(path)
  const owner = (session: SessionRow): AccountRow => {
    const account = store.registry.accountById(session.account)
    if (!account) throw new Error('no such account')
    return account
  }
  return {
    store,
    account: (name) => store.addAccount({ name, label: null, kind: 'agent', can, digest: `${name}-digest` }),
    session(account) {
      const name = `s-${(++serial).toString(16).padStart(32, '0')}`
      return store.addSession({
        account: account.id,
        name,
        instance: { boot: 'b', pidns: 'n', pid: serial, start: '1', pidfd: null },
        conversation: null,
        attested: { pid: serial, started_at_unix_ms: 0, exe: null, uid: 0, spawned_by: null },
        corroborated: {
          provider: null,
          provider_session_id: null,
          conversation: null,
          model: null,
          cwd: null,
          sources: {},
        },
        predecessor: null,
      })
    },
    async room(name, ...members) {
      const room = await store.addRoom(name, null)
      for (const member of members) await store.join(room, member)
      return room
    },
    send(session, recipients, more = {}) {
      const account = owner(session)
      const from: Address = { kind: 'session', participant: account.name, session: session.name }
      const said = { from, subject: 'secret subject', body: 'secret body' }
      const suppressed = more.suppressed === undefined ? {} : { wake_suppressed: more.suppressed }
      return store.send({
        account,
        session,
        scope: 0,
        thread: 0,
        parent: null,
        hop: more.hop ?? 0,
        recipients,
        fragment: () => JSON.stringify({ ...said, ...suppressed }).slice(1, -1),
        idempotency: null,
        upsert: more.upsert ?? null,
        close: null,
      })
    },
  }
}

export const toAccount = (to: AccountRow): Recipient[] => [
  { text: to.name, kind: KIND.account, box: to.box, account: to.id, room: 0 },
]
export const toSession = (to: AccountRow, session: SessionRow): Recipient[] => [
  { text: `${to.name}/${session.name}`, kind: KIND.session, box: session.box, account: to.id, room: 0 },
]
export const toRoom = (room: RoomRow, ...members: AccountRow[]): Recipient[] =>
  members.map((one) => ({ text: `#${room.name}`, kind: KIND.room, box: one.box, account: one.id, room: room.id }))

/** A letter from elsewhere, unopened, as an import stores it. */
export async function carryIn(store: Store, from: AccountRow, to: AccountRow): Promise<number> {
  const first = store.keeping.reserve(1)
  const content = { subject: 'old', body: 'old', replyTo: null, correlation: null, refs: [], hop: 0 }
  const imported = { source: 'aipass' as const, id: `old-${first}`, at: new Date().toISOString() }
  const states = { closed: 0 as const, notified: null, opened: null, closedAt: null, reason: null, updates: 0 }
  const letter = {
    key: `aipass:old-${first}`,
    account: from.id,
    created: Date.now() - 86_400_000,
    hop: 0,
    copies: [{ text: to.name, kind: KIND.account, box: to.box, account: to.id, room: 0, ...states }],
    thread: null,
    threadKey: null,
    parent: null,
    fragment: fragmentOf(from.name, null, null, {
      ...content,
      onBehalfOf: null,
      wakeSuppressed: null,
      recipients: null,
      imported,
    }),
  }
  await store.keeping.add(first, [letter], Date.now())
  return first
}

export type Heard = { body: string; headers: IncomingHttpHeaders; at: number }
export type Listener = {
  url: string
  heard: Heard[]
  /** What it answers from now on. */
  status: number
  /** Resolves once it has been rung `count` times in all; rejects after `ms`. */
  rings(count: number, ms?: number): Promise<Heard[]>
  close(): Promise<void>
}

/** A listener on a free port of loopback. */
export async function openListener(): Promise<Listener> {
  const heard: Heard[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (bytes) => {
      body += String(bytes)
    })
    request.on('end', () => {
      heard.push({ body, headers: request.headers, at: performance.now() })
      response.writeHead(listener.status).end()
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const listener: Listener = {
    url: `http://127.0.0.1:${port}/bell`,
    heard,
    status: 200,
    async rings(count, ms = 4_000) {
      for (const end = performance.now() + ms; heard.length < count; await Bun.sleep(2))
        if (performance.now() > end) throw new Error(`rung ${heard.length} times, not ${count}`)
      return heard
    },
    close: () => new Promise((done) => server.close(() => done())),
  }
  return listener
}
