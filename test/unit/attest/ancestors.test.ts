// Parents, environment and life of a process instance.
import { afterEach, describe, expect, test } from 'bun:test'
import { readdirSync, readlinkSync } from 'node:fs'
import { attested, cleanUp, onLinux, openDoor, until } from './support.ts'

const all = cleanUp()

/** Empty for a descriptor that was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
afterEach(() => all.run())

describe.if(onLinux)('instance', () => {
  async function named(wrap: string[] = []) {
    const attestor = all.attestor()
    const door = all.keep(openDoor(attestor))
    const peer = await all.peer(wrap)
    await peer.do('open', { port: door.port })
    await peer.do('send')
    return { attestor, peer, process: attested(await door.verdicts.next()).process }
  }

  test('ancestors are nearest first, each older than its child, up to pid 1', async () => {
    const { attestor, peer, process: it } = await named(['sh', '-c', '"$@"; exit', 'wrap'])
    const chain = attestor.ancestors(it)
    expect(chain[0]?.pid).toBe(peer.child.pid)
    expect(chain[0]?.argv.slice(0, 2)).toEqual(['sh', '-c'])
    expect(chain[1]?.pid).toBe(process.pid)
    let child = it
    for (const parent of chain) {
      expect(child.ppid).toBe(parent.pid)
      expect(Number(parent.start)).toBeLessThanOrEqual(Number(child.start))
      child = parent
    }
  })

  test('we are our own, without a socket for it', () => {
    // one of an earlier test may close meanwhile; what counts is that none is new
    const sockets = () =>
      new Set(
        readdirSync('/proc/self/fd')
          .map((fd) => linkOf(`/proc/self/fd/${fd}`))
          .filter((to) => to.startsWith('socket:')),
      )
    const before = sockets()
    const attestor = all.attestor()
    const self = attestor.self()
    expect(self).toMatchObject({ pid: process.pid, ppid: process.ppid, exe: process.execPath })
    expect(self && attestor.ancestors(self)[0]?.pid).toBe(process.ppid)
    expect([...sockets().difference(before)]).toEqual([])
  })

  test('a parent that has ended is not among them', async () => {
    const { attestor, peer, process: it } = await named(['sh', '-c', '"$@"; exit', 'wrap'])
    peer.child.kill('SIGKILL')
    await peer.child.exited
    const chain = attestor.ancestors(it).map((one) => one.pid)
    expect(chain).not.toContain(peer.child.pid)
    expect(chain).not.toContain(process.pid)
    await peer.kill()
  })

  test('only the named variables are read, and only of that instance', async () => {
    const { attestor, process: it } = await named()
    expect(attestor.environment(it, ['M4A_TEST', 'M4A_ABSENT'])).toEqual({ M4A_TEST: 'here' })
    expect(attestor.environment({ ...it, start: '1' }, ['M4A_TEST'])).toEqual({})
  })

  test('alive until its end, a zombie has ended, and the pid alone is nobody', async () => {
    const { attestor, peer, process: it } = await named(['sh', '-c', 'exec 3<&0; "$@" <&3 & exec sleep 60', 'wrap'])
    expect(attestor.alive(it)).toBe(true)
    expect(attestor.alive({ ...it, start: '1' })).toBe(false)
    expect(attestor.alive({ ...it, pidfd: it.pidfd === null ? '1' : null })).toBe(false)
    await peer.kill()
    await until(async () => (await Bun.file(`/proc/${it.pid}/stat`).text()).includes(') Z '))
    expect(attestor.alive(it)).toBe(false)
    expect(attestor.ancestors(it)).toEqual([])
    expect(attestor.environment(it, ['M4A_TEST'])).toEqual({})
  })
})
