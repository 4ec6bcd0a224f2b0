// Every cell of the delivery table, at every door, on the compiled binary with real processes as sessions:
// two live sessions of one account, a third that comes later, and a room.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Actor, DOORS, type DoorName } from './support/actor.ts'
import { Mailbox } from './support/mailbox.ts'

let mailbox: Mailbox
let tokens: { ann: string; bob: string }
beforeAll(async () => {
  mailbox = await Mailbox.start()
  tokens = { ann: await mailbox.account('ann'), bob: await mailbox.account('bob') }
  await mailbox.admin('room', { id: 'build' })
  for (const participant of ['ann', 'bob']) await mailbox.admin('room/member/add', { room: 'build', participant })
})
afterAll(() => mailbox[Symbol.asyncDispose]())

/** Operations that have no tool of their own over MCP go over HTTP there. */
const TOOLS = new Set(['send', 'inbox', 'ack', 'get', 'whoami', 'directory', 'search'])
const at = (door: DoorName, op: string): DoorName => (door.startsWith('mcp') && !TOOLS.has(op) ? 'http' : door)

async function open(door: DoorName, actor: Actor): Promise<string[]> {
  return (await actor.ask(door, 'inbox')).messages.map((one: { message_id: string }) => one.message_id)
}
/** The CLI is a process of its own for each call: it acts in the session of the registered process above it. */
const actor = async (door: DoorName, token: string): Promise<Actor> => {
  const one = await mailbox.actor(token)
  if (door === 'cli') await one.ask('http', 'whoami')
  return one
}
const address = async (door: DoorName, one: Actor): Promise<string> => (await one.ask(door, 'whoami')).address_text
const receipt = async (door: DoorName, actor: Actor, message_id: string) =>
  (await actor.ask(at(door, 'receipts'), 'receipts', { message_id })).receipts[0].deliveries[0]

describe.each(DOORS.map((door) => [door]))('%s', (door) => {
  test('sent to an account: one copy for all sessions, the first ack settles it for the account', async () => {
    const [ann, one, two] = [
      await actor(door, tokens.ann),
      await actor(door, tokens.bob),
      await actor(door, tokens.bob),
    ]
    const first = await address(door, one)
    expect(await address(door, two)).not.toBe(first)
    const { message_id } = await ann.ask(door, 'send', { to: 'bob', subject: 's', body: 'to the account' })
    expect(await open(door, one)).toContain(message_id)
    expect(await open(door, two)).toContain(message_id)
    expect(await receipt(door, ann, message_id)).toMatchObject({ state: 'new' })
    await one.ask(door, 'get', { message_id })
    expect(await receipt(door, ann, message_id)).toMatchObject({ state: 'opened', opened_by: first })
    await one.ask(at(door, 'claim'), 'claim', { message_id })
    expect(await open(door, two)).not.toContain(message_id)
    await expect(two.ask(door, 'ack', { message_id })).rejects.toThrow('claimed')
    await one.ask(door, 'ack', { message_id })
    const late = await actor(door, tokens.bob)
    for (const session of [one, two, late]) expect(await open(door, session)).not.toContain(message_id)
    expect(await receipt(door, ann, message_id)).toMatchObject({
      state: 'closed',
      closed_by: first,
      close_reason: 'acknowledged',
    })
    await two.ask(at(door, 'reopen'), 'reopen', { message_id })
    expect(await open(door, late)).toContain(message_id)
    await late.ask(door, 'ack', { message_id })
  })

  test('sent to a session: that session alone; once it has ended its letters are orphaned and can be released', async () => {
    const [ann, one, two] = [
      await actor(door, tokens.ann),
      await actor(door, tokens.bob),
      await actor(door, tokens.bob),
    ]
    const to = await address(door, one)
    await address(door, two)
    const { message_id, thread } = await ann.ask(door, 'send', { to, subject: 's', body: 'to the session' })
    expect(await open(door, one)).toContain(message_id)
    for (const [op, request] of [
      ['get', { message_id }],
      ['ack', { message_id }],
      ['thread', { message_id: thread }],
    ] as const)
      await expect(two.ask(at(door, op), op, request)).rejects.toThrow('unknown_message')
    expect(await open(door, two)).not.toContain(message_id)
    await one.end()
    await Bun.sleep(100)
    const orphaned = (await two.ask(door, 'inbox')).orphaned
    expect(orphaned.letters).toContainEqual(expect.objectContaining({ message_id, to_text: to }))
    expect(JSON.stringify(orphaned)).not.toContain('to the session')
    expect(await receipt(door, ann, message_id)).toMatchObject({ state: 'new', session_ended: true })
    await expect(two.ask(door, 'get', { message_id })).rejects.toThrow('unknown_message')
    const session = to.split('/')[1]
    expect(await mailbox.admin('orphan/release', { account: 'bob', session })).toEqual({ released: 1 })
    expect(await open(door, two)).toContain(message_id)
    await two.ask(door, 'ack', { message_id })
  })

  test('sent to a room: every session but the sender; each closes its own, a later one sees it until the first close', async () => {
    const [ann, sibling, one, two] = [
      await actor(door, tokens.ann),
      await actor(door, tokens.ann),
      await actor(door, tokens.bob),
      await actor(door, tokens.bob),
    ]
    for (const session of [sibling, one, two]) await address(door, session)
    const { message_id } = await ann.ask(door, 'send', { to: '#build', subject: 's', body: 'to the room' })
    expect(await open(door, ann)).not.toContain(message_id)
    for (const session of [sibling, one, two]) expect(await open(door, session)).toContain(message_id)
    const early = await actor(door, tokens.bob)
    expect(await open(door, early)).toContain(message_id)
    await one.ask(door, 'ack', { message_id })
    const late = await actor(door, tokens.bob)
    expect(await open(door, late)).not.toContain(message_id)
    for (const session of [two, early, sibling]) expect(await open(door, session)).toContain(message_id)
    expect(await open(door, one)).not.toContain(message_id)
    const { deliveries } = (await ann.ask(at(door, 'receipts'), 'receipts', { message_id })).receipts[0]
    const states = deliveries.map((one: { state: string }) => one.state).sort()
    // bob's record; that of the sender's own account is not in the receipts before a sibling has touched it
    expect(states).toEqual(['closed'])
    for (const session of [two, early, sibling]) await session.ask(door, 'ack', { message_id })
    for (const session of [two, early, sibling]) expect(await open(door, session)).not.toContain(message_id)
  })
})
