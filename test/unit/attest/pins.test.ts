// More processes than may be pinned, and fewer descriptors than are needed: nobody loses a proof, and what fails says why.
import { afterEach, describe, expect, test } from 'bun:test'
import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { keptWithin, pinsWithin, shortage, softLimit } from '../../../src/attest/linux/descriptors.ts'
import { Held } from '../../../src/attest/linux/held.ts'
import { Look } from '../../../src/attest/linux/look.ts'
import { ForkMark, readMachine } from '../../../src/attest/linux/machine.ts'
import { PinTable } from '../../../src/attest/linux/pin-table.ts'
import { cleanUp, onLinux, openDoor } from './support.ts'

const all = cleanUp()
afterEach(() => all.run())

test('the limit of descriptors is the soft one, and pins take a quarter of it, or half of what a small one spares', () => {
  const line = (soft: string) =>
    `Limit  Soft  Hard  Units\nMax open files            ${soft}          4096     files \n`
  expect(softLimit(line('512'))).toBe(512)
  expect(pinsWithin(softLimit(line('unlimited')))).toBe(2048)
  expect(softLimit('')).toBe(1024)
  const pins = [0, 64, 256, 512, 1024, 20_000, 1_000_000].map(pinsWithin)
  expect(pins).toEqual([1, 4, 26, 32, 64, 1250, 2048])
  expect([0, 64, 1024, 20_000].map(keptWithin)).toEqual([0, 2, 122, 256])
})

/** A process with a connection, and that connection as it is held in `table`. */
async function heldIn(table: PinTable, forks: ForkMark) {
  const door = all.keep(openDoor({ ...all.attestor(), tcp: () => ({ ok: false, kind: 'no_holder', seen: {} }) }))
  const peer = await all.peer()
  await peer.do('open', { port: door.port })
  const folder = `/proc/${peer.pid}/fd`
  const open = readdirSync(folder).map((fd) => ({ fd: Number(fd), link: readlinkSync(join(folder, fd)) }))
  const own = new Set(readdirSync('/proc/self/fd').flatMap((fd) => safeLink(`/proc/self/fd/${fd}`)))
  const sockets = open.filter(({ link }) => link.startsWith('socket:') && !own.has(link))
  const last = sockets.at(-1)
  const pinned = table.pin(peer.pid)
  if (last === undefined || pinned === null) throw new Error('the peer has no socket')
  const inode = Number(/\d+/.exec(last.link)?.[0])
  return { peer, inode, held: new Held(pinned, table, inode, 'test', last.fd, forks.read()) }
}

function safeLink(path: string): string[] {
  try {
    return [readlinkSync(path)]
  } catch {
    return []
  }
}

describe.if(onLinux)('pins', () => {
  const open = (limit: number) => {
    const machine = readMachine()
    return { machine, table: all.keep(new PinTable(machine, limit)), forks: all.keep(new ForkMark()) }
  }

  test('a proof outlives the eviction of its pin, with the same facts; the end of its process ends it', async () => {
    const { machine, table, forks } = open(2)
    const { peer, held } = await heldIn(table, forks)
    const first = held.pinned
    const { process } = first
    const others = [await all.peer(), await all.peer()]
    for (let round = 0; round < 3; round++) {
      const before = held.pinned
      for (const other of others) expect(table.pin(other.pid)).not.toBeNull()
      expect(before.closed).toBe(true)
      expect(held.check(new Look(forks), machine.euid, false)).toBe('held')
      expect(held.pinned.closed).toBe(false)
      expect(held.pinned.process).toBe(process)
    }
    for (const other of others) table.pin(other.pid)
    await peer.kill()
    expect(held.check(new Look(forks), machine.euid, false)).toBe('lost')
  })

  test('a pin made again looks at the children anew, and at the socket', async () => {
    const { machine, table, forks } = open(1)
    const { peer, held } = await heldIn(table, forks)
    table.pin(process.pid)
    await peer.do('share')
    expect(held.check(new Look(forks), machine.euid, false)).toBe('shared')
    await peer.do('unshare')
    table.pin(process.pid)
    expect(held.check(new Look(forks), machine.euid, false)).toBe('held')
    const other = new Held(held.pinned, table, 1, 'test', 0, forks.read())
    table.pin(process.pid)
    expect(other.check(new Look(forks), machine.euid, false)).toBe('lost')
  })

  test('another process that has the pid now is not taken for it', async () => {
    const { machine, table, forks } = open(1)
    const { held, inode } = await heldIn(table, forks)
    const stranger = table.pin(process.pid)
    if (stranger === null) throw new Error('we run')
    stranger.resume({ ...stranger.process, comm: 'other' })
    expect(stranger.process.comm).not.toBe('other')
    expect(table.again({ ...held.pinned.process, start: '1' })).toBeNull()
    expect(table.again({ ...held.pinned.process, pidfd: '1' })).toBeNull()
    expect(held.inode).toBe(inode)
    expect(held.check(new Look(forks), machine.euid, false)).toBe('held')
  })

  test('the least recently used goes first', () => {
    const { table } = open(2)
    const [self, parent] = [table.pin(process.pid), table.pin(process.ppid)]
    table.pin(process.pid)
    table.pin(1)
    expect([self?.closed, parent?.closed]).toEqual([false, true])
  })
})

// in a process of its own: the limit is one of the whole process
test.if(onLinux)('without a descriptor left, a search says so, and an end is not believed', async () => {
  const script = join(import.meta.dir, 'starved.ts')
  const child = Bun.spawn(['sh', '-c', 'ulimit -n 96; exec "$0" "$1"', process.execPath, script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said: unknown = JSON.parse(await new Response(child.stdout).text())
  expect(said).toEqual({ short: 24, scan: { complete: false, errno: 24 }, alive: true, again: true, after: 0 })
  const fd = openSync('/dev/null', 'r')
  closeSync(fd)
  expect(shortage()).toBe(0)
})
