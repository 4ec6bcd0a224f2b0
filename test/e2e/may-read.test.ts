// Property: what every door lets each session read is the one rule, written here a second time as a small model.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import type { Actor } from './support/actor.ts'
import { Caller, fresh } from './support/caller.ts'
import { Mailbox } from './support/mailbox.ts'
import { allowed, got, listed, streamed } from './support/probe.ts'

const SECONDS = 60
setDefaultTimeout((SECONDS + 60) * 1_000)

let mailbox: Mailbox
let operator: Caller
const ACCOUNTS = ['ann', 'bob', 'cat'] as const
type Account = (typeof ACCOUNTS)[number]
type Session = { account: Account; actor: Actor; address: string }
const tokens = new Map<Account, string>()
const sessions: Session[] = []
/** Ended ones: a reply still finds them. */
const ended: Session[] = []

const begin = async (account: Account): Promise<Session> => {
  const actor = await mailbox.actor(tokens.get(account) ?? '')
  return { account, actor, address: (await actor.ask('http', 'whoami')).address_text }
}

beforeAll(async () => {
  mailbox = await Mailbox.start()
  operator = Caller.operator(mailbox)
  for (const account of ACCOUNTS) tokens.set(account, await mailbox.account(account))
  sessions.push(...(await Promise.all([...ACCOUNTS, ...ACCOUNTS].map(begin))))
})
afterAll(() => mailbox[Symbol.asyncDispose]())

type Step =
  | { do: 'send'; who: number; at: number[] }
  | { do: 'close'; who: number; at: number[] }
  | { do: 'reply'; who: number; at: number[]; plain: boolean; close: boolean }
  | { do: 'member'; who: number }
  | { do: 'restart'; who: number; release: boolean }

const index = fc.nat({ max: 40 })
const some = fc.array(index, { minLength: 1, maxLength: 3 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('send' as const), who: index, at: some }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('reply' as const),
      who: index,
      at: some,
      plain: fc.boolean(),
      close: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('close' as const), who: index, at: some }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('member' as const), who: fc.nat({ max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), who: index, release: fc.boolean() }) },
)

type Letter = {
  id: string
  from: Session
  /** Only the sending session of its account may read it: it is about session mail. */
  own: boolean
  accounts: Set<Account>
  sessions: Set<Session>
  /** Accounts that got it as members of the room. */
  room: Set<Account>
}

/** The rule. */
function mayRead(reader: Session, letter: Letter, members: ReadonlySet<Account>): boolean {
  if (letter.from.account === reader.account && (!letter.own || letter.from === reader)) return true
  if (letter.accounts.has(reader.account) || letter.sessions.has(reader)) return true
  return letter.room.has(reader.account) && members.has(reader.account)
}

class History {
  readonly word = fresh('walrus').replace('-', '')
  readonly room = fresh('room')
  readonly letters: Letter[] = []
  readonly members = new Set<Account>(['ann', 'bob'])
  readonly log: string[] = []

  async open(): Promise<void> {
    await mailbox.admin('room', { id: this.room })
    for (const participant of this.members) await mailbox.admin('room/member/add', { room: this.room, participant })
  }

  async run(one: Step): Promise<void> {
    if (one.do === 'member') return this.#toggle(ACCOUNTS[one.who % 3] ?? 'ann')
    const session = sessions[one.who % sessions.length]
    if (!session) throw new Error('no session')
    if (one.do === 'restart') return this.#restart(session, one.release)
    if (one.do === 'send') return this.#send(session, one.at)
    const letter = this.letters[(one.at[0] ?? 0) % Math.max(1, this.letters.length)]
    if (!letter) return undefined
    if (one.do === 'close') return this.#close(session, letter)
    return this.#reply(session, letter, one)
  }

  #targets(from: Session): string[] {
    const room = this.members.has(from.account) ? Array.from({ length: 3 }, () => `#${this.room}`) : []
    return [...ACCOUNTS, ...sessions.map(({ address }) => address), ...room]
  }

  async #send(from: Session, at: readonly number[]): Promise<void> {
    const targets = this.#targets(from)
    const to = at.map((one) => targets[one % targets.length] ?? 'ann')
    const { message_id } = await from.actor.ask('http', 'send', { to, subject: this.word, body: '.' })
    this.#record(from, message_id, to, false)
  }

  /** Who gets it: one copy for an account, its own before a room's; a session needs none where its account has one. */
  #record(from: Session, id: string, to: readonly string[], own: boolean): void {
    const accounts = new Set(ACCOUNTS.filter((name) => to.includes(name)))
    const posted = to.some((text) => text.startsWith('#')) ? [...this.members] : []
    const room = new Set(posted.filter((member) => !accounts.has(member)))
    const letter: Letter = { id, from, own, accounts, sessions: new Set(), room }
    for (const session of [...sessions, ...ended])
      if (to.includes(session.address) && !letter.accounts.has(session.account) && !letter.room.has(session.account))
        letter.sessions.add(session)
    if ([...letter.sessions].some(({ account }) => account === from.account)) letter.own = true
    this.letters.push(letter)
    this.log.push(`${from.address} sent ${id} to ${to}${letter.own ? ' (own)' : ''}`)
  }

  async #reply(from: Session, parent: Letter, { at, plain, close }: Extract<Step, { do: 'reply' }>): Promise<void> {
    const targets = this.#targets(from)
    const to = plain ? null : at.map((one) => targets[one % targets.length] ?? 'ann')
    const request = { to, subject: this.word, body: '.', reply_to: parent.id, close: close ? true : null }
    const { body } = await from.actor.call({ door: 'http', op: 'send', request })
    const readable = mayRead(from, parent, this.members)
    expect([this.log, from.address, parent.id, body.kind === 'unknown_message']).toEqual([
      this.log,
      from.address,
      parent.id,
      !readable,
    ])
    // to close what was not delivered, or to answer into a room that one has left, is refused for other reasons
    if (body.kind) return
    const answered = body.results
      .filter((one: { ok: boolean }) => one.ok)
      .map((one: { to_text: string }) => one.to_text)
    this.#record(from, body.message_id, answered, parent.sessions.has(from) || (parent.own && parent.from === from))
  }

  async #close(session: Session, letter: Letter): Promise<void> {
    const { body } = await session.actor.call({ door: 'http', op: 'ack', request: { message_id: letter.id } })
    if (!mayRead(session, letter, this.members)) expect(body.kind).toBe('unknown_message')
    this.log.push(`${session.address} closed ${letter.id}: ${body.kind ?? 'yes'}`)
  }

  async #toggle(participant: Account): Promise<void> {
    const leaves = this.members.delete(participant)
    if (!leaves) this.members.add(participant)
    await mailbox.admin(`room/member/${leaves ? 'remove' : 'add'}`, { room: this.room, participant })
    this.log.push(`${participant} ${leaves ? 'left' : 'joined'}`)
  }

  /** A session ends and another of its account begins; its mail is nobody's then, unless the operator releases what is open. */
  async #restart(session: Session, release: boolean): Promise<void> {
    await session.actor.end()
    ended.push(session)
    sessions[sessions.indexOf(session)] = await begin(session.account)
    this.log.push(`${session.address} ended`)
    if (!release) return
    const open = new Set<string>()
    for (const letter of this.letters)
      if (letter.sessions.has(session)) {
        const { body } = await operator.post('/mail/receipts', { message_id: letter.id })
        const entries: Record<string, any>[] = body.receipts[0].deliveries
        if (entries.some((one) => one.to_text === session.address && one.state !== 'closed')) open.add(letter.id)
      }
    await mailbox.admin('orphan/release', { account: session.account, session: session.address.split('/')[1] })
    for (const letter of this.letters) if (open.has(letter.id)) letter.accounts.add(session.account)
    this.log.push(`released ${[...open]}`)
  }

  /** Every door against the rule, for one session. `cursor` and `last` frame the history in the event log. */
  async compare(reader: Session, cursor: string, last: string, everyDoor: boolean): Promise<void> {
    const { actor } = reader
    const ids = this.letters.map(({ id }) => id)
    const mine = (found: Iterable<string>) => [...new Set(found)].filter((id) => ids.includes(id)).sort()
    const may = ids.filter((_, at) => mayRead(reader, this.letters[at] as Letter, this.members)).sort()
    const same = (door: string, found: Iterable<string>) =>
      expect([...this.log, reader.address, door, mine(found)]).toEqual([...this.log, reader.address, door, may])
    const within = (door: string, found: Iterable<string>) =>
      expect([...this.log, reader.address, door, mine(found).filter((id) => !may.includes(id))]).toEqual([
        ...this.log,
        reader.address,
        door,
        [],
      ])
    same('get', await got(actor, 'http', ids))
    same('search', await listed(actor, 'search', { query: this.word }))
    same('events', await streamed(actor, cursor, last))
    const addressed = (letter: Letter) =>
      letter.accounts.has(reader.account) ||
      letter.sessions.has(reader) ||
      (letter.room.has(reader.account) && this.members.has(reader.account) && letter.from !== reader)
    expect([...this.log, reader.address, mine(await listed(actor, 'inbox', { state: 'all' }))]).toEqual([
      ...this.log,
      reader.address,
      this.letters
        .filter(addressed)
        .map(({ id }) => id)
        .sort(),
    ])
    const byUs = ({ from, own }: Letter) => from.account === reader.account && (!own || from === reader)
    const sent = this.letters
      .filter(byUs)
      .map(({ id }) => id)
      .sort()
    expect([...this.log, mine(await listed(actor, 'sent'))]).toEqual([...this.log, sent])
    expect([...this.log, mine(await listed(actor, 'receipts'))]).toEqual([...this.log, sent])
    within('inbox', await listed(actor, 'inbox'))
    for (const id of ids) {
      const readable = may.includes(id)
      const asked = await Promise.all([
        allowed(actor, 'receipts', { message_id: id }),
        allowed(actor, 'thread', { message_id: id, limit: 1 }),
      ])
      expect([...this.log, reader.address, id, ...asked]).toEqual([...this.log, reader.address, id, readable, readable])
      if (readable) within('thread', await listed(actor, 'thread', { message_id: id }))
      else expect(await allowed(actor, 'ack', { message_id: id })).toBe(false)
    }
    if (!everyDoor) return
    for (const door of ['socket', 'mcp-legacy', 'mcp-modern'] as const) same(door, await got(actor, door, ids))
    const found = await actor.ask('mcp-modern', 'search', { query: this.word, limit: 256, max_bytes: 1_000_000 })
    same(
      'search over mcp',
      found.messages.map((one: { message_id: string }) => one.message_id),
    )
    for (const id of ids.slice(-2)) {
      const { body } = await actor.call({ door: 'cli', op: 'get', request: { message_id: id, peek: true } })
      const viewed = body.kind === 'unknown_message' ? false : body.message_id === id
      expect([...this.log, reader.address, 'cli', id, viewed]).toEqual([
        ...this.log,
        reader.address,
        'cli',
        id,
        may.includes(id),
      ])
    }
  }
}

test('every door keeps to the one rule', async () => {
  let runs = 0
  let letters = 0
  const steps = fc.array(step, { minLength: 10, maxLength: 24 })
  await fc.assert(
    fc.asyncProperty(steps, index, async (all, everyDoor) => {
      const history = new History()
      await history.open()
      const first = await operator.send('@all', { subject: 'begin' })
      const { cursor } = await operator.ask('sent', { limit: 1 })
      for (const one of all) await history.run(one)
      const last = await operator.send('@all', { subject: 'end' })
      expect(first.message_id < last.message_id).toBe(true)
      const readers = [...sessions]
      await Promise.all(
        readers.map((reader, at) =>
          history.compare(reader, cursor, last.message_id, at === everyDoor % readers.length),
        ),
      )
      // an operator reads all of it by id
      for (const { id } of history.letters) await operator.ask('get', { message_id: id, peek: true })
      runs++
      letters += history.letters.length
    }),
    { numRuns: 60, interruptAfterTimeLimit: SECONDS * 1_000, markInterruptAsFailure: false, endOnFailure: true },
  )
  process.stdout.write(`compared ${letters} letters of ${runs} histories at every door\n`)
  expect(runs).toBeGreaterThan(5)
  expect(letters).toBeGreaterThan(runs * 4)
})
