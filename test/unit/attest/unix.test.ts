// Who is at the other end of a Unix socket: the process that connected, while it is its only holder.
import { afterEach, describe, expect, test } from 'bun:test'
import { attested, cleanUp, onLinux, openUnixDoor } from './support.ts'

const all = cleanUp()
afterEach(() => all.run())

describe.if(onLinux)('unix', () => {
  async function connected() {
    const attestor = all.attestor()
    const door = all.keep(await openUnixDoor(attestor))
    const peer = await all.peer()
    await peer.do('open', { path: door.path })
    return { attestor, door, peer }
  }

  test('names the process that connected, again and again', async () => {
    const { door, peer } = await connected()
    await peer.do('send')
    const first = attested(await door.verdicts.next())
    expect(first).toMatchObject({ via: 'unix', process: { pid: peer.pid, ppid: process.pid } })
    await peer.do('send')
    const second = attested(await door.verdicts.next())
    expect(second.connection).toBe(first.connection)
    expect(second.process).toBe(first.process)
  })

  test('a child that has the socket too makes it shared_connection, until it has ended', async () => {
    const { door, peer } = await connected()
    await peer.do('share')
    await peer.do('send')
    expect(await door.verdicts.next()).toMatchObject({ ok: false, kind: 'shared_connection' })
    await peer.do('unshare')
    await peer.do('send')
    expect(attested(await door.verdicts.next()).process.pid).toBe(peer.pid)
  })

  test('who inherited it from a connector that has ended is not named', async () => {
    const { door, peer } = await connected()
    const shell = `while kill -0 ${peer.pid} 2>/dev/null; do sleep 0.05 3>&-; done; printf x >&3; exec sleep 60`
    const pid = Number(await peer.do('share', { command: ['sh', '-c', shell] }))
    all.after(() => process.kill(pid, 'SIGKILL'))
    await peer.kill()
    expect(await door.verdicts.next()).toMatchObject({ ok: false, kind: 'peer_gone' })
  })

  test('a peer that has closed, and a descriptor that is no socket, are refused', async () => {
    const { attestor, door, peer } = await connected()
    const accepted = await door.peers.next()
    expect(attested(await attestor.unix(accepted)).process.pid).toBe(peer.pid)
    await peer.kill()
    expect(await attestor.unix(accepted)).toMatchObject({ ok: false, kind: 'peer_gone' })
    expect(await attestor.unix(attestor.accept(-1))).toMatchObject({ ok: false, kind: 'unreadable' })
  })
})
