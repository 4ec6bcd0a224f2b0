// A connection that several processes have is nobody's, and whoever is left with it is its owner.
import { afterEach, describe, expect, test } from 'bun:test'
import { attested, cleanUp, onLinux, openDoor, until } from './support.ts'

const all = cleanUp()
afterEach(() => all.run())

describe.if(onLinux)('sharing', () => {
  test('a child that has the connection too makes it shared_connection, until it has ended', async () => {
    const door = all.keep(openDoor(all.attestor()))
    const peer = await all.peer()
    await peer.do('open', { port: door.port })
    const child = Number(await peer.do('share'))
    await peer.do('send')
    const refused = await door.verdicts.next()
    expect(refused).toMatchObject({ ok: false, kind: 'shared_connection' })
    expect(JSON.stringify(refused)).toContain(String(child))
    await peer.do('unshare')
    await peer.do('send')
    expect(attested(await door.verdicts.next()).process.pid).toBe(peer.pid)
  })

  test('also a child made after the proof', async () => {
    const door = all.keep(openDoor(all.attestor()))
    const peer = await all.peer()
    await peer.do('open', { port: door.port })
    await peer.do('send')
    expect(attested(await door.verdicts.next()).process.pid).toBe(peer.pid)
    await peer.do('share')
    await peer.do('send')
    expect(await door.verdicts.next()).toMatchObject({ ok: false, kind: 'shared_connection' })
    await peer.do('unshare')
    await peer.do('send')
    expect(attested(await door.verdicts.next()).process.pid).toBe(peer.pid)
  })

  test('a child that is being made does not disturb its parent', async () => {
    const door = all.keep(openDoor(all.attestor()))
    const client = `
      for (let i = 0; i < 30; i++) {
        Bun.spawn(['true'])
        if (await (await fetch(process.argv[1])).text() !== 'ok') process.exit(1)
      }`
    const child = Bun.spawn([process.execPath, '-e', client, door.url], { stdio: ['ignore', 'ignore', 'inherit'] })
    for (let i = 0; i < 30; i++) expect(attested(await door.verdicts.next()).process.pid).toBe(child.pid)
    expect(await child.exited).toBe(0)
  })

  test('who is left with the connection is named; an exec keeps the instance and reloads its facts', async () => {
    const attestor = all.attestor()
    const door = all.keep(openDoor(attestor))
    const peer = await all.peer()
    await peer.do('open', { port: door.port })
    const request = String.raw`printf 'GET / HTTP/1.1\r\nHost: test\r\n\r\n' >&3`
    const shell = `while kill -0 ${peer.pid} 2>/dev/null; do sleep 0.05 3>&-; done; ${request}; sleep 0.3 3>&-; ${request}; sleep 0.3 3>&-; exec sh -c "$1; sleep 0.3 3>&-; exec sleep 60" second "$1"`
    const pid = Number(await peer.do('share', { command: ['sh', '-c', shell, 'first', request] }))
    all.after(() => process.kill(pid, 'SIGKILL'))
    await peer.kill()
    const first = attested(await door.verdicts.next())
    expect(first.process.pid).toBe(pid)
    expect(first.process.argv[3]).toBe('first')
    expect(attested(await door.verdicts.next()).via).toBe('warm')
    const second = attested(await door.verdicts.next())
    expect(second.connection).toBe(first.connection)
    expect(second.process.pid).toBe(pid)
    expect(second.process.start).toBe(first.process.start)
    expect(second.process.pidfd).toBe(first.process.pidfd)
    expect(second.process.execMark).not.toBe(first.process.execMark)
    expect(second.process.argv.slice(3, 4)).toEqual(['second'])
    await until(() => attestor.alive(first.process))
  })
})
