// What a session is told of itself at first contact, and of everybody else: whoami and the directory, whole, at every door.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Actor, DOORS } from './support/actor.ts'
import { Mailbox } from './support/mailbox.ts'

let mailbox: Mailbox
const secrets: Record<string, string> = {}

beforeAll(async () => {
  mailbox = await Mailbox.start()
  for (const name of ['ann', 'bob', 'cleo', 'doors'])
    secrets[name] = await mailbox.account(name, { label: `I am ${name}` })
  for (const id of ['build', 'attic']) await mailbox.admin('room', { id })
  for (const participant of ['ann', 'bob', 'doors'])
    await mailbox.admin('room/member/add', { room: 'build', participant })
  await mailbox.admin('room/member/add', { room: 'attic', participant: 'cleo' })
})
afterAll(() => mailbox[Symbol.asyncDispose]())

describe('whoami as first contact', () => {
  test.each(DOORS.map((door) => [door]))('%s: address, rooms, and the card in three groups', async (door) => {
    const actor = await mailbox.actor(secrets.doors!)
    const before = Date.now()
    const answer = await actor.ask(door, 'whoami')
    const session = answer.address.session
    expect(session).toMatch(/^s-[0-9a-f]{32}$/)
    const { exe } = answer.card.attested
    expect(answer).toMatchObject({
      address: { kind: 'session', participant: 'doors', session },
      address_text: `doors/${session}`,
      account: 'doors',
      label: 'I am doors',
      capabilities: ['send', 'read'],
      rooms: ['build'],
      unread: 0,
    })
    expect(Object.keys(answer.card).sort()).toEqual(['attested', 'corroborated', 'declared'])
    const { attested, corroborated, declared } = answer.card
    expect(Object.keys(attested).sort()).toEqual(['exe', 'pid', 'spawned_by', 'started_at_unix_ms', 'uid'])
    const facts = ['conversation', 'cwd', 'model', 'provider', 'provider_session_id', 'sources']
    expect(Object.keys(corroborated).sort()).toEqual(facts)
    expect(declared).toEqual({ working_on: null, role: null, parent: null })
    expect(attested.uid).toBe(process.getuid?.())
    expect(Math.abs(attested.started_at_unix_ms - before)).toBeLessThan(60_000)
    expect(exe.startsWith('/')).toBe(true)
    if (door !== 'cli') expect(attested.pid).toBe(actor.pid)
    // each fact names its source, and nothing else does
    const known = facts.filter((name) => name !== 'sources' && corroborated[name] !== null)
    expect(Object.keys(corroborated.sources).sort()).toEqual(known)
  })
})

describe('peers', () => {
  let ann: Actor
  const live: string[] = []
  let ended = ''
  beforeAll(async () => {
    ann = await mailbox.actor(secrets.ann!)
    for (let index = 0; index < 2; index++) {
      const bob = await mailbox.actor(secrets.bob!)
      live.push((await bob.ask('http', 'whoami')).address_text)
    }
    const gone = await mailbox.actor(secrets.bob!)
    ended = (await gone.ask('http', 'whoami')).address_text
    await gone.end()
  })

  test.each(DOORS.map((door) => [door]))(
    '%s: every account with its sessions, every room as the caller stands to it',
    async (door) => {
      await ann.ask('http', 'whoami')
      const answer = await ann.ask(door, 'directory')
      const ids = answer.participants.map((one: { id: string }) => one.id)
      expect(ids).toEqual([...ids].sort())
      expect(new Set(ids)).toEqual(new Set(['ann', 'bob', 'cleo', 'doors', 'operator']))
      const bob = answer.participants.find((one: { id: string }) => one.id === 'bob')
      expect(Object.keys(bob).sort()).toEqual(['id', 'kind', 'label', 'sessions'])
      const entry = (address: string) => bob.sessions.find((one: { address: string }) => one.address === address)
      for (const address of live) {
        expect(entry(address)).toMatchObject({ id: address.split('/')[1]!, live: true, last_seen: expect.any(String) })
        expect(Object.keys(entry(address).card).sort()).toEqual(['attested', 'corroborated', 'declared'])
      }
      expect(entry(ended)).toMatchObject({ live: false })
      expect(answer.participants.find((one: { id: string }) => one.id === 'cleo').sessions).toEqual([])
      expect(answer.rooms).toEqual([
        { id: 'attic', member: false, members: 1 },
        { id: 'build', member: true, members: 3 },
      ])
      expect(answer).toMatchObject({ has_more: false, now: expect.any(String) })
    },
  )

  test('a page at a time', async () => {
    const seen: string[] = []
    for (let after: string | null = null; ; ) {
      const page = await ann.ask('http', 'directory', { limit: 2, ...(after ? { after } : {}) })
      expect(page.participants.length).toBeLessThanOrEqual(2)
      seen.push(...page.participants.map((one: { id: string }) => one.id))
      after = page.after
      if (!page.has_more) break
    }
    expect(seen).toEqual(['ann', 'bob', 'cleo', 'doors', 'operator'])
  })
})
