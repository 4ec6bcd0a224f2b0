// Who calls, with real processes: which session each of a family's members acts in, and what is refused.
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { unattested } from '../../../src/identity/attested.ts'
import type { AccountRow } from '../../../src/store/rows.ts'
import { LIMITS } from '../../../src/wire/limits.ts'
import { addAccount } from '../../support/population.ts'
import { onLinux, until } from '../attest/support.ts'
import { type House, openHouse, refused, scripts } from './family.ts'

describe.if(onLinux)('callers', () => {
  const { plain, claude, codex, remove } = scripts()
  afterAll(remove)
  let house: House
  let a: AccountRow
  let b: AccountRow
  beforeEach(async () => {
    house = await openHouse()
    a = await addAccount(house.store, 'alpha')
    b = await addAccount(house.store, 'beta')
  })
  afterEach(() => house.close())

  test('an agent, its shell and a command of its shell are one session; the agent speaks MCP first or last', async () => {
    const agent = await house.family(claude)
    await agent.spawn([], 'shell', plain)
    await agent.spawn(['shell'], 'command', plain)
    const fromShell = await agent.call(['shell', 'command'], { account: a })
    const itself = await agent.call([], { account: a, mcp: true })
    expect(itself.session).toBe(fromShell.session)
    expect(itself.session.attested).toMatchObject({ pid: agent.pid, exe: process.execPath, spawned_by: null })
    expect((await agent.call(['shell'], { account: a })).session).toBe(itself.session)
    expect(house.store.registry.liveSessions()).toHaveLength(1)
  })

  test('an account has so many live sessions; those who have one go on, and so do others', async () => {
    const agent = await house.family(claude)
    const own = await agent.call([], { account: a, mcp: true })
    const { instance: at, attested, corroborated } = own.session
    const filler = { account: a.id, conversation: null, predecessor: null, attested, corroborated }
    const more = Array.from({ length: LIMITS.sessionsAccount - 1 }, (_, n) =>
      house.store.addSession({
        ...filler,
        name: `s-${String(n).padStart(32, '0')}`,
        instance: { ...at, start: `${n}` },
      }),
    )
    await Promise.all(more)
    const late = await house.family(claude)
    expect(await refused(late.call([], { account: a, mcp: true }))).toBe('too_many')
    expect((await agent.call([], { account: a, mcp: true })).session).toBe(own.session)
    expect((await late.call([], { account: b, mcp: true })).session.account).toBe(b.id)
  }, 60_000)

  test('who only looks is told who it is: no session is made, none is touched, and admission is the same', async () => {
    const agent = await house.family(claude)
    await agent.spawn([], 'shell', plain)
    const verdict = await agent.verdict(['shell'])
    const first = house.identity.look(a, verdict)
    expect(first).toMatchObject({ account: a, looks: true, session: { id: 0, box: 0 } })
    expect(house.store.registry.liveSessions()).toEqual([])
    const { session } = await agent.call([], { account: a, mcp: true })
    session.lastSeen = 1
    const second = house.identity.look(a, await agent.verdict(['shell']))
    expect(second.session).toBe(session)
    expect(session.lastSeen).toBe(1)
    expect((await agent.call(['shell'], { account: a })).session).toBe(session)
    const person = await house.store.changeAccount(b, { kind: 'person' })
    expect(() => house.identity.look(person, verdict)).toThrow('may not use the token')
  })

  test('a second process with the same token is another session', async () => {
    const one = await (await house.family(claude)).call([], { account: a, mcp: true })
    const two = await (await house.family(claude)).call([], { account: a, mcp: true })
    expect(one.session.name).not.toBe(two.session.name)
    expect(one.session.box).not.toBe(two.session.box)
  })

  test('a nested agent is its own session, of the same account or of another', async () => {
    const outer = await house.family(claude)
    await outer.spawn([], 'shell', plain)
    await outer.spawn(['shell'], 'inner', codex)
    await outer.spawn(['shell', 'inner'], 'shell', plain)
    const own = (await outer.call([], { account: a, mcp: true })).session
    const inner = (await outer.call(['shell', 'inner', 'shell'], { account: a })).session
    expect(inner.name).not.toBe(own.name)
    expect(inner.attested.spawned_by).toBe(`alpha/${own.name}`)
    const other = (await outer.call(['shell', 'inner'], { account: b, mcp: true })).session
    expect(other.account).toBe(b.id)
    expect((await outer.call(['shell'], { account: a })).session).toBe(own)
  })

  test("another account's token in an agent's shell is a session of the command, never of an outer agent", async () => {
    const outer = await house.family(claude)
    await outer.spawn([], 'inner', claude)
    await outer.spawn(['inner'], 'shell', plain)
    await outer.call([], { account: b, mcp: true })
    await outer.call(['inner'], { account: a, mcp: true })
    const process = await outer.process(['inner', 'shell'])
    const { session } = await outer.call(['inner', 'shell'], { account: b })
    expect(session.attested.pid).toBe(process.pid)
  })

  test('the anchor stays what it was at the first contact, and ends the caller with it', async () => {
    const top = await house.family(plain)
    await top.spawn([], 'agent', claude)
    await top.spawn(['agent'], 'orphan', plain)
    const orphan = await top.verdict(['agent', 'orphan'])
    const { session } = await house.identity.caller(a, orphan, {}, false)
    // the agent ends; what it started goes on, under another parent
    await top.exit(['agent'])
    await until(() => !house.identity.alive(session))
    const again = async () => house.identity.caller(a, orphan, {}, false)
    expect(await refused(again())).toBe('anchor_ended')
    await house.identity.sweep()
    expect(session.ended).toBeNumber()
  })

  test("a person's and an operator's token are refused below an agent, by name, and are no session", async () => {
    const person = await house.store.addAccount({ ...a, name: 'ada', kind: 'person', digest: '1'.repeat(64) })
    const operator = await addAccount(house.store, 'root', { operator: true })
    const agent = await house.family(claude)
    await agent.spawn([], 'shell', plain)
    for (const account of [person, operator])
      for (const path of [[], ['shell']]) expect(await refused(agent.call(path, { account }))).toBe('agent_ancestor')
    expect(house.store.registry.liveSessions()).toEqual([])
    const outside = await house.family(plain)
    expect((await outside.call([], { account: operator })).account).toBe(operator)
  })

  test('with no agents in the list, and where the operator allows it, agents may use them', async () => {
    for (const options of [{ recognised: [] }, { allowAgentsAsPersons: true }]) {
      const open = await openHouse(options)
      try {
        const agent = await open.family(claude)
        const account = await addAccount(open.store, 'root', { operator: true })
        expect((await agent.call([], { account })).account).toBe(account)
      } finally {
        await open.close()
      }
    }
  })

  test('each conversation is a session, and the process has one of its own', async () => {
    const agent = await house.family(codex)
    const speak = (key?: string) =>
      agent.call([], { account: a, mcp: true, said: key ? { conversation: { key, source: 'meta' } } : {} })
    const own = (await speak()).session
    const one = (await speak('thread-1')).session
    const two = (await speak('thread-2')).session
    expect(new Set([own.name, one.name, two.name]).size).toBe(3)
    expect((await speak('thread-1')).session).toBe(one)
    expect((await speak()).session).toBe(own)
    expect(one.corroborated).toMatchObject({
      provider: 'codex',
      provider_session_id: 'thread-1',
      conversation: 'thread-1',
      sources: { provider: 'proc', provider_session_id: 'meta', conversation: 'meta', cwd: 'proc' },
    })
    // a key that cannot be one narrows nothing
    for (const odd of ['', 'with space', 'x'.repeat(200), 'line\nbreak']) expect((await speak(odd)).session).toBe(own)
  })

  test('a process has 256 conversations at most, also when all of them begin at once', async () => {
    const agent = await house.family(codex)
    const verdict = await agent.verdict([])
    const speak = async (key: string) =>
      (await house.identity.caller(a, verdict, { conversation: { key, source: 'meta' } }, true)).session
    const wave = (name: string) => Promise.all(Array.from({ length: 300 }, (_, i) => speak(`${name}-${i}`)))
    const first = await wave('first')
    expect(first.filter(({ conversation }) => conversation !== null)).toHaveLength(256)
    expect(new Set(first).size).toBe(257)
    // the known ones stay what they are, and a surplus key adds none
    expect(await speak('first-0')).toBe(first[0] as never)
    expect((await wave('second')).every(({ conversation }) => conversation === null)).toBe(true)
    expect(house.store.registry.liveSessions()).toHaveLength(257)
  })

  test("the caller's environment chooses among the anchor's conversations and adds none", async () => {
    const agent = await house.family(codex)
    const said = (key: string) => ({ conversation: { key, source: 'meta' as const } })
    const one = (await agent.call([], { account: a, mcp: true, said: said('thread-1') })).session
    await agent.spawn([], 'hook', plain)
    expect((await agent.call(['hook'], { account: a })).session).toBe(one)
    const two = (await agent.call([], { account: a, mcp: true, said: said('thread-2') })).session
    await agent.spawn([], 'first', plain, { CODEX_THREAD_ID: 'thread-1' })
    await agent.spawn([], 'second', plain, { CODEX_THREAD_ID: 'thread-2' })
    await agent.spawn([], 'outer', plain, { CODEX_THREAD_ID: 'thread-of-an-outer-agent' })
    expect((await agent.call(['first'], { account: a })).session).toBe(one)
    expect((await agent.call(['second'], { account: a })).session).toBe(two)
    const own = (await agent.call(['outer'], { account: a })).session
    expect(own.conversation).toBeNull()
    // a bridge hands the key on
    expect((await agent.call(['outer'], { account: a, said: said('thread-2') })).session).toBe(two)
  })

  test('a chat of VS Code narrows within VS Code and what it starts, and is nothing from anybody else', async () => {
    const said = (key: string) => ({ conversation: { key, source: 'meta' as const, of: 'vscode' as const } })
    const posing = async (exe: string) => {
      const verdict = await (await house.family(plain)).verdict([])
      if (!verdict.ok) throw new Error(verdict.kind)
      const seen = { ...verdict, process: { ...verdict.process, exe } }
      return async (key?: string) => (await house.identity.caller(a, seen, key ? said(key) : {}, true)).session
    }
    const editor = await posing('/usr/share/code/code')
    const [own, one, two] = [await editor(), await editor('chat-1'), await editor('chat-2')]
    expect(new Set([own, one, two]).size).toBe(3)
    expect(await editor('chat-1')).toBe(one)
    expect(one).toMatchObject({ conversation: 'chat-1', corroborated: { sources: { conversation: 'meta' } } })
    const second = await posing('/usr/share/code/code')
    expect((await second('chat-1')).box).not.toBe(one.box)
    const other = await posing('/usr/bin/other')
    expect(await other('chat-1')).toMatchObject({ conversation: null, corroborated: { conversation: null } })
    expect(await other('chat-1')).toBe(await other())
  })

  test('50 first calls at once register one session', async () => {
    const agent = await house.family(claude)
    const verdict = await agent.verdict([])
    const callers = await Promise.all(
      Array.from({ length: 50 }, async () => house.identity.caller(a, verdict, {}, true)),
    )
    expect(new Set(callers.map(({ session }) => session)).size).toBe(1)
    // and from then on it answers at once
    expect(house.identity.caller(a, verdict, {}, true)).not.toBeInstanceOf(Promise)
  })

  test('a restarted mailbox knows its sessions again', async () => {
    const agent = await house.family(claude)
    await agent.spawn([], 'shell', plain)
    const { session } = await agent.call([], { account: a, mcp: true })
    house.restart()
    expect((await agent.call(['shell'], { account: a })).session).toBe(session)
  })

  test('the sweep ends what has gone and leaves what runs', async () => {
    const stays = await house.family(claude)
    const goes = await house.family(claude)
    const one = (await stays.call([], { account: a, mcp: true })).session
    const two = (await goes.call([], { account: a, mcp: true })).session
    await goes.kill()
    expect(house.identity.alive(two)).toBe(false)
    await Promise.all([house.identity.sweep(), house.identity.sweep()])
    expect(one.ended).toBeNull()
    expect(two.ended).toBeNumber()
    expect(house.store.registry.liveSessions()).toEqual([one])
  })

  test('a session of another boot is not alive, whatever process has its numbers', async () => {
    const agent = await house.family(claude)
    const { session } = await agent.call([], { account: a, mcp: true })
    expect(house.identity.alive(session)).toBe(true)
    expect(house.identity.alive({ ...session, instance: { ...session.instance, boot: 'another' } })).toBe(false)
  })

  test('what attestation refuses is refused here by the same name', async () => {
    const refuse = async (kind: 'peer_gone' | 'other_user') =>
      house.identity.caller(a, { ok: false, kind, seen: { pid: 1 } }, {}, false)
    expect(await refused(refuse('peer_gone'))).toBe('peer_gone')
    expect(await refused(refuse('other_user'))).toBe('other_user')
  })

  test('a mailbox without descriptors says that it lacks them, and not that the caller hides', async () => {
    const refusalOf = (seen: Record<string, string | number>) => unattested({ ok: false, kind: 'unreadable', seen })
    for (const errno of [23, 24])
      expect(refusalOf({ scan: 'failed', errno }).toJSON()).toMatchObject({
        kind: 'unreadable',
        message: 'the mailbox lacks file descriptors',
        hint: expect.stringContaining('ulimit -n'),
        seen: { scan: 'failed', errno },
      })
    for (const seen of [{ scan: 'failed', errno: 12 }, { scan: 'failed' }, { pid: 1 }])
      expect(refusalOf(seen).message).toBe('the process that called may not be looked at')
  })

  test('who introduces itself is no session yet, and its name is known to its calls that do not say it', async () => {
    const program = await house.family(plain)
    const client = { name: 'my-client', version: '1.2' }
    house.identity.greet(a, await program.verdict([]), { client })
    house.identity.greet(a, await program.verdict([]), {})
    expect(house.store.registry.liveSessions()).toEqual([])
    const { session } = await program.call([], { account: a, mcp: true })
    expect(session.corroborated).toMatchObject({ provider: 'my-client', sources: { provider: 'client' } })
    const own = (await program.call([], { account: b, mcp: true, said: { client: { ...client, name: 'other' } } }))
      .session
    expect(own.corroborated.provider).toBe('other')
  })

  test('a client that names its conversation with its calls has no session beside those', async () => {
    const agent = await house.family(codex)
    house.identity.greet(a, await agent.verdict([]), { client: { name: 'codex', version: '1' } })
    const said = { conversation: { key: 'thread-1', source: 'meta' as const } }
    const { session } = await agent.call([], { account: a, mcp: true, said })
    expect(house.store.registry.liveSessions()).toEqual([session])
  })

  test('an introduction is refused as a call would be', async () => {
    const greet = async (...words: Parameters<typeof house.identity.greet>) => house.identity.greet(...words)
    expect(await refused(greet(a, { ok: false, kind: 'peer_gone', seen: {} }, {}))).toBe('peer_gone')
    const operator = await addAccount(house.store, 'root', { operator: true })
    const agent = await house.family(claude)
    const verdict = await agent.verdict([])
    expect(await refused(greet(operator, verdict, {}))).toBe('agent_ancestor')
    if (!verdict.ok) throw new Error(verdict.kind)
    const outside = await (await house.family(plain)).verdict([])
    if (!outside.ok) throw new Error(outside.kind)
    const socat = { ...outside, process: { ...outside.process, exe: '/usr/bin/socat' } }
    expect(await refused(greet(a, socat, {}))).toBe('forwarder')
    expect(house.store.registry.liveSessions()).toEqual([])
  })

  test('a forwarder is refused unless it is allowed', async () => {
    const agent = await house.family(plain)
    const verdict = await agent.verdict([])
    if (!verdict.ok) throw new Error(verdict.kind)
    const socat = { ...verdict, process: { ...verdict.process, exe: '/usr/bin/socat' } }
    const call = async () => house.identity.caller(a, socat, {}, false)
    expect(await refused(call())).toBe('forwarder')
    const open = await openHouse({ allowForwarders: true })
    try {
      const account = await addAccount(open.store, 'alpha')
      expect((await open.identity.caller(account, socat, {}, false)).session.attested.exe).toBe('/usr/bin/socat')
    } finally {
      await open.close()
    }
  })
})
