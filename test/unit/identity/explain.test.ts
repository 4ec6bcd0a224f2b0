// The evidence behind a caller: which rule found its session, what the session's name is made of, what was seen on a refusal.
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { instanceKey, sessionName } from '../../../src/identity/session-id.ts'
import type { AccountRow } from '../../../src/store/rows.ts'
import { Refusal } from '../../../src/wire/refusal.ts'
import { addAccount } from '../../support/population.ts'
import { onLinux } from '../attest/support.ts'
import { type House, openHouse, scripts } from './family.ts'

describe.if(onLinux)('explained', () => {
  const { plain, claude, codex, remove } = scripts()
  afterAll(remove)
  let house: House
  let a: AccountRow
  beforeEach(async () => {
    house = await openHouse()
    a = await addAccount(house.store, 'alpha')
  })
  afterEach(() => house.close())

  test('a client that speaks MCP, and a command below it', async () => {
    const agent = await house.family(claude)
    await agent.spawn([], 'shell', plain)
    const own = await agent.call([], { account: a, mcp: true })
    const itself = own.explain?.()
    expect(itself).toMatchObject({
      connection: { over: 'tcp', name: expect.stringMatching(/^\d+\/[0-9a-f]+$/) },
      process: { pid: agent.pid, agent: 'claude (script)', session: `alpha/${own.session.name}` },
      anchor: { rule: 'speaks_mcp', process: { pid: agent.pid } },
      account: { id: 'alpha' },
    })
    expect(itself?.ancestors[0]?.pid).toBe(process.pid)
    const below = (await agent.call(['shell'], { account: a })).explain?.()
    expect(below?.anchor).toMatchObject({ rule: 'session_above', process: { pid: agent.pid } })
    expect(below?.process.pid).not.toBe(agent.pid)
    expect(below?.session.id).toBe(own.session.name)
  })

  test('the name of a session can be computed from what it is made of', async () => {
    const agent = await house.family(codex)
    const said = { conversation: { key: 'thread-1', source: 'meta' as const } }
    const call = await agent.call([], { account: a, mcp: true, said })
    const { session } = call.explain?.() ?? {}
    expect(session?.conversation).toStartWith('the request names it')
    expect(session?.made_of).toContainEqual({ name: 'conversation', value: 'thread-1' })
    expect(session?.id).toBe(sessionName(instanceKey(await agent.process([])), 'thread-1'))
    const implied = await agent.call([], { account: a, mcp: true })
    expect(implied.explain?.().session).toMatchObject({
      id: call.session.name,
      conversation: expect.stringContaining('no other'),
    })
  })

  test('a refusal of identity says whom it saw', async () => {
    const agent = await house.family(claude)
    await agent.spawn([], 'shell', plain)
    const person = await addAccount(house.store, 'person', { operator: true })
    const refusal = await agent.call(['shell'], { account: person }).catch((error: unknown) => error)
    if (!(refusal instanceof Refusal)) throw new Error('it was not refused')
    const { pid } = await agent.process(['shell'])
    expect(refusal.facts).toEqual({ agent: 'claude', seen: { pid, agent_pid: agent.pid } })
  })
})
