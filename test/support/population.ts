// Accounts, sessions, rooms and letters for tests that talk to the store directly.
import type { AccountRow, Kind, Recipient, RoomRow, SessionRow } from '../../src/store/rows.ts'
import type { SendJob, SendOutcome, Store } from '../../src/store/store.ts'

const ALL = { send: true, read: true, dispatch: false, behalf: false, operator: false }
let serial = 0

export function addAccount(store: Store, name: string, can: Partial<AccountRow['can']> = {}): Promise<AccountRow> {
  const digest = new Bun.CryptoHasher('sha256').update(`${name} ${serial++}`).digest('hex')
  return store.addAccount({ name, label: null, kind: 'agent', can: { ...ALL, ...can }, digest })
}

/** A made-up process: tests of the store need sessions, not kernels. */
export function addSession(
  store: Store,
  account: AccountRow,
  options: { predecessor?: SessionRow; provider?: string } = {},
): Promise<SessionRow> {
  const pid = 100_000 + serial++
  return store.addSession({
    account: account.id,
    name: `s-${pid.toString(16).padStart(32, '0')}`,
    instance: { boot: 'boot', pidns: 'pid:[1]', pid, start: '1', pidfd: null },
    conversation: null,
    attested: { pid, started_at_unix_ms: 1, exe: '/bin/agent', uid: 0, spawned_by: null },
    corroborated: {
      provider: null,
      provider_session_id: options.provider ?? null,
      conversation: null,
      model: null,
      cwd: null,
      sources: {},
    },
    predecessor: options.predecessor?.id ?? null,
  })
}

export const toAccount = (to: AccountRow): Recipient => ({
  text: to.name,
  kind: 0 as Kind,
  box: to.box,
  account: to.id,
  room: 0,
})
export const toSession = (account: AccountRow, to: SessionRow): Recipient => ({
  text: `${account.name}/${to.name}`,
  kind: 1 as Kind,
  box: to.box,
  account: account.id,
  room: 0,
})
export const toRoom = (store: Store, room: RoomRow): Recipient[] =>
  store.registry.members(room.id).flatMap((id) => {
    const account = store.registry.accountById(id)
    return account ? [{ text: `#${room.name}`, kind: 2 as Kind, box: account.box, account: id, room: room.id }] : []
  })

export function post(
  store: Store,
  account: AccountRow,
  session: SessionRow,
  recipients: Recipient[],
  more: Partial<SendJob> & { subject?: string; body?: string } = {},
): Promise<SendOutcome> {
  const { subject = 'subject', body = 'body', ...job } = more
  return store.send({
    account,
    session,
    recipients,
    scope: 0,
    thread: 0,
    parent: null,
    hop: 0,
    idempotency: null,
    upsert: null,
    close: null,
    fragment: (id, random) =>
      `"message_id":"${id}-${random}","subject":${JSON.stringify(subject)},"body":${JSON.stringify(body)}`,
    ...job,
  })
}

/** Sequences that a session's page shows. */
export const shown = (
  store: Store,
  account: AccountRow,
  session: SessionRow,
  which: 'open' | 'closed' | 'all' = 'open',
  after = 0,
): number[] =>
  [...store.page({ accountBox: account.box, sessionBox: session.box, which, after, since: null, expect: 50 })]
    .filter((row) => row.json !== '')
    .map((row) => row.id)
