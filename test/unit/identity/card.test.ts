// The card of a session: facts with their sources, kept true as the process changes; and who inherits an ended one's mail.
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AccountRow } from '../../../src/store/rows.ts'
import { addAccount } from '../../support/population.ts'
import { onLinux } from '../attest/support.ts'
import { type House, openHouse, scripts } from './family.ts'

const ID = '0138bc59-1c29-4df8-a696-aff83a101eb2'
const OTHER = '7d0c2a7e-5a0e-4c38-9e0b-0d1c6f1b2a33'

describe.if(onLinux)('cards', () => {
  const { plain, claude, codex, folder, remove } = scripts()
  afterAll(remove)
  let house: House
  let a: AccountRow
  beforeEach(async () => {
    house = await openHouse()
    a = await addAccount(house.store, 'alpha')
  })
  afterEach(() => house.close())

  /** What Claude writes for each of its processes. */
  function record(home: string, pid: number, procStart: string, sessionId: string) {
    const sessions = join(home, '.claude', 'sessions')
    mkdirSync(sessions, { recursive: true })
    writeFileSync(join(sessions, `${pid}.json`), JSON.stringify({ pid, procStart, sessionId, cwd: '/' }))
  }

  test('it shows the client, its model and session from the arguments, its folder from the kernel', async () => {
    const agent = await house.family([...claude, '--model', 'opus', '--resume', ID])
    const { session } = await agent.call([], { account: a, mcp: true })
    expect(session.corroborated).toEqual({
      provider: 'claude',
      provider_session_id: ID,
      conversation: ID,
      model: 'opus',
      cwd: process.cwd(),
      sources: { provider: 'proc', provider_session_id: 'argv', conversation: 'argv', model: 'argv', cwd: 'proc' },
    })
  })

  test('a prompt that holds options forges nothing', async () => {
    const agent = await house.family([...claude, '-p', `answer --model evil --resume=${ID} --resume ${ID}`])
    const { session } = await agent.call([], { account: a, mcp: true })
    expect(session.corroborated).toMatchObject({ model: null, provider_session_id: null })
  })

  test('without an option the environment of the client names the model; nobody else’s does, and no odd text', async () => {
    const around = { ANTHROPIC_MODEL: 'opus-around' }
    const modelOf = async (command: string[], env: Record<string, string>) => {
      const { session } = await (await house.family(command, env)).call([], { account: a, mcp: true })
      return [session.corroborated.model, session.corroborated.sources.model]
    }
    expect(await modelOf(claude, around)).toEqual(['opus-around', 'environ'])
    expect(await modelOf([...claude, '--model', 'opus'], around)).toEqual(['opus', 'argv'])
    expect(await modelOf(claude, { ANTHROPIC_MODEL: 'two words' })).toEqual([null, undefined])
    expect(await modelOf(plain, around)).toEqual([null, undefined])
  })

  test('an unknown process shows no model and no session; its client names the provider, and stays named', async () => {
    const agent = await house.family([...plain, '--model', 'x', '--resume', ID])
    const said = { client: { name: 'my-client', version: '1' } }
    const { session } = await agent.call([], { account: a, mcp: true, said })
    expect(session.corroborated).toMatchObject({ provider: 'my-client', model: null, provider_session_id: null })
    expect(session.corroborated.sources).toMatchObject({ provider: 'client' })
    await agent.chdir([], folder)
    await Bun.sleep(300)
    await agent.call([], { account: a, mcp: true })
    expect(session.corroborated.provider).toBe('my-client')
  })

  test('long and odd facts are cut, never a reason to refuse', async () => {
    const agent = await house.family(plain)
    const verdict = await agent.verdict([])
    if (!verdict.ok) throw new Error(verdict.kind)
    const odd = { ...verdict.process, cwd: `/${'ä'.repeat(600)}`, exe: '/bin/\u0007bell' }
    const said = { client: { name: 'n'.repeat(5000), version: '' } }
    const { session } = await house.identity.caller(a, { ...verdict, process: odd }, said, true)
    expect(Buffer.byteLength(session.corroborated.cwd ?? '')).toBeLessThanOrEqual(512)
    expect(session.corroborated.provider).toBe('n'.repeat(512))
    expect(session.attested.exe).toBe('/bin/ bell')
  })

  test('an exec keeps the session and reloads the card, not the declared group', async () => {
    const agent = await house.family(plain)
    const verdict = await agent.verdict([])
    if (!verdict.ok) throw new Error(verdict.kind)
    const { session } = await house.identity.caller(a, verdict, {}, true)
    await house.store.declare(session, { working_on: 'the build', role: null, parent: null })
    const began = session.attested.started_at_unix_ms
    expect(Math.abs(Date.now() - began)).toBeLessThan(60_000)
    const became = { ...verdict.process, exe: '/opt/claude', argv: ['claude', '--model', 'm2'], execMark: 'other' }
    const after = await house.identity.caller(a, { ...verdict, process: became }, {}, true)
    expect(after.session).toBe(session)
    expect(session.attested).toMatchObject({ exe: '/opt/claude', started_at_unix_ms: began })
    expect(session.corroborated).toMatchObject({ provider: 'claude', model: 'm2' })
    expect(session.declared.working_on).toBe('the build')
  })

  test("the client's own record counts for that very process only", async () => {
    const home = join(folder, 'home-record')
    const agent = await house.family([...claude, '--resume', OTHER], { HOME: home })
    const { start } = await agent.process([])
    record(home, agent.pid, String(Number(start) - 1), ID)
    const { session } = await agent.call([], { account: a, mcp: true })
    expect(session.corroborated).toMatchObject({ provider_session_id: OTHER, sources: { provider_session_id: 'argv' } })
    record(home, agent.pid, start, ID)
    house.restart()
    await agent.call([], { account: a, mcp: true })
    expect(session.corroborated).toMatchObject({ provider_session_id: ID, sources: { provider_session_id: 'record' } })
  })

  test('a session that was cleared is another one to its client, and the same one to its mail', async () => {
    const home = join(folder, 'home-cleared')
    const agent = await house.family(claude, { HOME: home })
    const { start } = await agent.process([])
    record(home, agent.pid, start, ID)
    const { session } = await agent.call([], { account: a, mcp: true })
    expect(session.corroborated).toMatchObject({ provider_session_id: ID, conversation: ID })
    record(home, agent.pid, start, OTHER)
    // at the hook of its start at once, and else within a moment
    await agent.spawn([], 'hook', plain)
    const hooked = await agent.call(['hook'], { account: a, said: { anew: true } })
    expect(hooked.session).toBe(session)
    expect(session.corroborated).toMatchObject({ provider_session_id: OTHER, conversation: OTHER })
    record(home, agent.pid, start, ID)
    await Bun.sleep(1_100)
    expect((await agent.call([], { account: a, mcp: true })).session).toBe(session)
    expect(session.corroborated).toMatchObject({ provider_session_id: ID, conversation: ID })
    record(home, agent.pid, start, OTHER)
    await agent.call(['hook'], { account: a, said: { anew: true } })
    await agent.kill()
    // who resumes what was cleared has none of it; who resumes what it became has all
    const before = await house.family([...claude, '--resume', ID])
    expect((await before.call([], { account: a, mcp: true })).session.box).not.toBe(session.box)
    const after = await house.family([...claude, '--resume', OTHER])
    expect((await after.call([], { account: a, mcp: true })).session.box).toBe(session.box)
  })

  test('a resumed agent takes over the mailbox, at once, and one only', async () => {
    const first = await house.family([...claude, '--resume', ID])
    const one = (await first.call([], { account: a, mcp: true })).session
    await first.kill()
    // no sweep in between: the restart is quicker
    const second = await house.family([...claude, '--resume', ID])
    const two = (await second.call([], { account: a, mcp: true })).session
    expect(two.box).toBe(one.box)
    expect(one).toMatchObject({ successor: two.id })
    expect(one.ended).toBeNumber()
    const third = await house.family([...claude, '--resume', ID])
    const late = (await third.call([], { account: a, mcp: true })).session
    expect(late.box).not.toBe(one.box)
    expect(house.logged).toHaveLength(1)
    await second.kill()
    await house.identity.sweep()
    const fourth = await house.family([...claude, '--resume', ID])
    expect((await fourth.call([], { account: a, mcp: true })).session.box).toBe(two.box)
  })

  test('nobody else inherits: other accounts, forks, what is only said, what only calls itself a client', async () => {
    const b = await addAccount(house.store, 'beta')
    const first = await house.family([...claude, '--resume', ID])
    const one = (await first.call([], { account: a, mcp: true })).session
    const meantime = await house.family([...claude, '--resume', ID])
    expect((await meantime.call([], { account: a, mcp: true })).session.box).not.toBe(one.box)
    await meantime.kill()
    await first.kill()
    await house.identity.sweep()
    const said = { conversation: { key: ID, source: 'meta' as const } }
    for (const [command, call] of [
      [[...claude, '--resume', ID], { account: b, mcp: true }],
      [[...claude, '--resume', ID, '--fork-session'], { account: a, mcp: true }],
      [[...plain, '--resume', ID], { account: a, mcp: true }],
      [plain, { account: a, mcp: true, said }],
      [codex, { account: a, mcp: true, said }],
    ] as const) {
      const other = await house.family([...command])
      expect((await other.call([], call)).session.box).not.toBe(one.box)
      await other.kill()
    }
    const imposter = await house.family(plain)
    const verdict = await imposter.verdict([])
    if (!verdict.ok) throw new Error(verdict.kind)
    const posing = { ...verdict.process, comm: 'claude', argv: ['claude', '--resume', ID] }
    const { session } = await house.identity.caller(a, { ...verdict, process: posing }, {}, true)
    expect(session.corroborated.provider).toBe('claude')
    expect(session.box).not.toBe(one.box)
    expect(one.successor).toBeNull()
  })

  test('a resumed conversation takes over that conversation, by the arguments or by the open thread', async () => {
    const said = { conversation: { key: ID, source: 'meta' as const } }
    const call = { account: a, mcp: true, said }
    const first = await house.family(codex)
    const one = (await first.call([], call)).session
    await first.kill()
    const second = await house.family([...codex, 'resume', ID])
    const own = (await second.call([], { account: a, mcp: true })).session
    expect(own.box).not.toBe(one.box)
    const two = (await second.call([], call)).session
    expect(two.box).toBe(one.box)
    await second.kill()
    const locks = join(folder, 'thread-writer-locks')
    mkdirSync(locks, { recursive: true })
    const lock = join(locks, `${ID}.lock`)
    writeFileSync(lock, '')
    const third = await house.family(['sh', '-c', 'exec "$0" "$@" 9<"$LOCK"', ...codex], { LOCK: lock })
    await third.spawn([], 'shell', plain, { CODEX_THREAD_ID: ID })
    // its shell is first: the open thread tells that the process has that conversation
    const three = (await third.call(['shell'], { account: a })).session
    expect(three).toMatchObject({ conversation: ID, box: one.box })
    expect(three.corroborated.sources.provider_session_id).toBe('record')
    expect((await third.call([], call)).session).toBe(three)
  })
})
