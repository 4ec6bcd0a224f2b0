// Who is at the other end of a TCP connection: the right process, or a refusal by name.

import { afterEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { attested, cleanUp, onLinux, openDoor, until } from './support.ts'

const all = cleanUp()
afterEach(() => all.run())

describe.if(onLinux)('tcp', () => {
  test('names a child process with its facts, first by a search, then by the re-checked proof', async () => {
    const attestor = all.attestor()
    const door = all.keep(openDoor(attestor))
    const peer = await all.peer()
    await peer.do('open', { port: door.port })
    await peer.do('send')
    const first = attested(await door.verdicts.next())
    expect(first.process.pid).toBe(peer.pid)
    expect(first.process.ppid).toBe(process.pid)
    expect(first.process.uid).toBe(process.getuid?.() ?? -1)
    expect(first.process.cwd).toBe(process.cwd())
    expect(first.process.argv.at(-1)).toEndWith('peer.ts')
    expect(first.process.exe).toBe(process.execPath)
    expect(first.process.boot).toMatch(/^[0-9a-f-]{36}$/)
    expect(first.process.pidns).toMatch(/^pid:\[\d+\]$/)
    expect(first.via).toBe('scan')
    await peer.do('send')
    const second = attested(await door.verdicts.next())
    expect(second.via).toBe('warm')
    expect(second.process).toBe(first.process)
    expect(second.connection).toBe(first.connection)
  })

  test('two connections of one process have two names', async () => {
    const door = all.keep(openDoor(all.attestor()))
    const peer = await all.peer()
    await peer.do('open', { port: door.port })
    await peer.do('send')
    const first = attested(await door.verdicts.next())
    await peer.do('open', { port: door.port })
    await peer.do('send')
    const second = attested(await door.verdicts.next())
    expect(second.process.pid).toBe(first.process.pid)
    expect(second.connection).not.toBe(first.connection)
  })

  test('knows whether a connection is still open, long after its last call', async () => {
    const door = all.keep(openDoor(all.attestor()))
    const [one, two] = [await all.peer(), await all.peer()]
    const asked: (() => boolean)[] = []
    for (const peer of [one, two]) {
      await peer.do('open', { port: door.port })
      await peer.do('send')
      const { isOpen } = attested(await door.verdicts.next())
      if (!isOpen) throw new Error('it cannot tell')
      asked.push(isOpen)
    }
    await one.do('send')
    expect(attested(await door.verdicts.next()).isOpen?.()).toBe(true)
    expect(asked.map((isOpen) => isOpen())).toEqual([true, true])
    await one.kill()
    await until(() => asked[0]?.() === false, 20_000)
    expect(asked.map((isOpen) => isOpen())).toEqual([false, true])
  })

  test('one port on two loopback addresses is two callers, however often they take turns', async () => {
    const door = all.keep(openDoor(all.attestor()))
    const [first, second] = [await all.peer(), await all.peer()]
    const localPort = Number(await first.do('connect', { port: door.port }))
    await first.do('send')
    expect(attested(await door.verdicts.next()).process.pid).toBe(first.pid)
    await second.do('connect', { port: door.port, from: '127.0.0.2', localPort })
    for (const peer of [second, second, first, first, second]) {
      await peer.do('send')
      expect(attested(await door.verdicts.next()).process.pid).toBe(peer.pid)
    }
  })

  test('asks for many sockets at once', async () => {
    const door = all.keep(openDoor(all.attestor()))
    await Promise.all(Array.from({ length: 40 }, () => fetch(door.url, { headers: { connection: 'close' } })))
    for (let i = 0; i < 40; i++) expect(attested(await door.verdicts.next()).process.pid).toBe(process.pid)
  })

  test('serves ::1, and IPv4 as an IPv6 socket spells it', async () => {
    const attestor = all.attestor()
    const six = all.keep(openDoor(attestor, '::1'))
    const four = all.keep(openDoor(attestor))
    for (const [host, port, door] of [
      ['::1', six.port, six],
      ['::ffff:127.0.0.1', four.port, four],
    ] as const) {
      const peer = await all.peer()
      await peer.do('connect', { host, port })
      await peer.do('send')
      expect(attested(await door.verdicts.next()).process.pid).toBe(peer.pid)
    }
  })

  test('refuses peer_gone where there is no such connection, also one from a port that listens', async () => {
    const attestor = all.attestor()
    const door = all.keep(openDoor(attestor))
    const local = { address: '127.0.0.1', port: door.port }
    expect(await attestor.tcp(() => null, local)).toMatchObject({ kind: 'peer_gone' })
    expect(await attestor.tcp(() => ({ address: '127.0.0.1', port: door.port }), local)).toMatchObject({
      kind: 'peer_gone',
    })
    expect(await attestor.tcp(() => ({ address: '::1', port: 1 }), local)).toMatchObject({ kind: 'peer_gone' })
  })

  test('refuses peer_gone after a reset, and for one between the two looks', async () => {
    const attestor = all.attestor()
    const door = all.keep(openDoor(attestor, '127.0.0.1', true))
    const peer = await all.peer()
    await peer.do('connect', { port: door.port })
    await peer.do('send')
    const ask = await door.questions.next()
    const inTime = ask()
    await peer.do('reset')
    expect(await inTime).toMatchObject({ kind: 'peer_gone' })
    expect(await ask()).toMatchObject({ kind: 'peer_gone' })
  })

  test('refuses peer_gone once the peer has exited', async () => {
    const door = all.keep(openDoor(all.attestor(), '127.0.0.1', true))
    const peer = await all.peer()
    await peer.do('open', { port: door.port })
    await peer.do('send')
    const ask = await door.questions.next()
    expect(attested(await ask()).process.pid).toBe(peer.pid)
    await peer.kill()
    expect(await ask()).toMatchObject({ kind: 'peer_gone' })
  })

  test('a port that another process took over names neither for the old request', async () => {
    const door = all.keep(openDoor(all.attestor(), '127.0.0.1', true))
    const [first, second] = [await all.peer(), await all.peer()]
    const localPort = 20000 + (process.pid % 9000)
    await first.do('connect', { port: door.port, localPort })
    await first.do('send')
    const old = await door.questions.next()
    const before = attested(await old())
    expect(before.process.pid).toBe(first.pid)
    await first.do('reset')
    await until(async () => {
      const verdict = await old()
      return !verdict.ok
    })
    await second.do('connect', { port: door.port, localPort })
    await second.do('send')
    const fresh = attested(await (await door.questions.next())())
    expect(fresh.process.pid).toBe(second.pid)
    expect(fresh.connection).not.toBe(before.connection)
    expect(await old()).toMatchObject({ kind: 'peer_gone' })
  })

  test('the end of the turn decides: a process that has ended by then is not named', async () => {
    const door = all.keep(openDoor(all.attestor(), '127.0.0.1', true))
    const peer = await all.peer()
    await peer.do('open', { port: door.port })
    await peer.do('send')
    const ask = await door.questions.next()
    expect(attested(await ask()).via).toBe('scan')
    expect(attested(await ask()).via).toBe('warm')
    const late = ask()
    process.kill(peer.pid, 'SIGKILL')
    // nothing is awaited: this turn ends when the process has, with the last of its threads
    const hasEnded = (status: string) => /^State:\s+[ZX]/m.test(status) && /^Threads:\s+1$/m.test(status)
    while (!hasEnded(readFileSync(`/proc/${peer.pid}/status`, 'utf8'))) Bun.sleepSync(1)
    expect(await late).toMatchObject({ kind: 'peer_gone' })
  })

  test('calls of one turn are judged by one look, each for its own connection', async () => {
    const door = all.keep(openDoor(all.attestor(), '127.0.0.1', true))
    const peers = [await all.peer(), await all.peer()]
    const asks = []
    for (const peer of peers) {
      await peer.do('open', { port: door.port })
      await peer.do('send')
      const ask = await door.questions.next()
      expect(attested(await ask()).process.pid).toBe(peer.pid)
      asks.push(ask)
    }
    const both = await Promise.all([...asks, ...asks].map((ask) => ask()))
    const pids = peers.map((peer) => peer.pid)
    expect(both.map((verdict) => attested(verdict).process.pid)).toEqual([...pids, ...pids])
    const pending = asks.map((ask) => ask())
    await peers[0]?.kill()
    const after = await Promise.all(asks.map((ask) => ask()))
    expect((await Promise.all(pending)).map((verdict) => verdict.ok)).toContain(true)
    expect(after.map((verdict) => verdict.ok)).toEqual([false, true])
  })
})
