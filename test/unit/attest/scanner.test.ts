// The search of all holders: what it finds, how it is shared, and what happens when its thread dies.
import { afterEach, describe, expect, test } from 'bun:test'
import { readdirSync, readlinkSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { HolderScan } from '../../../src/attest/linux/holders.ts'
import { Scanner } from '../../../src/attest/linux/scanner.ts'
import { cleanUp, onLinux, openDoor } from './support.ts'

const all = cleanUp()
afterEach(() => all.run())
const worker = (name: string) => () => new Worker(new URL(name, import.meta.url))

describe.if(onLinux)('scan', () => {
  test('finds every holder once, after forks and exits alike', async () => {
    const door = all.keep(openDoor(all.attestor()))
    const peer = await all.peer()
    await peer.do('open', { port: door.port })
    await peer.do('send')
    await door.verdicts.next()
    const links = readdirSync(`/proc/${peer.pid}/fd`).map((fd) => readlinkSync(`/proc/${peer.pid}/fd/${fd}`))
    const inodes = links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []).map(Number)
    const scan = all.keep(new HolderScan())
    const holdersOf = (inode: number) => scan.run([inode]).holders.map((holder) => holder.pid)
    const child = Number(await peer.do('share'))
    const both = [peer.pid, child].sort()
    const inode = inodes.find((one) => Bun.deepEquals(holdersOf(one).sort(), both)) ?? 0
    expect(inode).toBeGreaterThan(0)
    await peer.do('unshare')
    expect(holdersOf(inode)).toEqual([peer.pid])
    await peer.kill()
    const report = scan.run([inode])
    expect(report).toMatchObject({ holders: [], complete: true })
    expect(report.processes).toBeGreaterThan(1)
  })
})

describe('scanner', () => {
  test('sockets that wait share one pass; nobody joins a pass that runs', async () => {
    const scanner = all.keep(new Scanner(worker('./counting-worker.ts')))
    const first = scanner.scan(1)
    const others = Array.from({ length: 30 }, (_, i) => scanner.scan(i))
    expect((await first)?.processes).toBe(1)
    for (const report of await Promise.all(others)) expect(report?.processes).toBe(2)
  })

  test('a worker that dies proves nothing, and the next question gets a new one', async () => {
    const scanner = all.keep(new Scanner(worker('./broken-worker.ts')))
    const waiting = [scanner.scan(1), scanner.scan(2)]
    expect(await Promise.all(waiting)).toEqual([null, null])
    expect(await scanner.scan(3)).toBeNull()
    const none = all.keep(new Scanner(worker('./no-such-worker.ts')))
    expect(await Promise.all([none.scan(1), none.scan(2)])).toEqual([null, null])
    const throwing = () => {
      throw new Error('no thread to be had')
    }
    expect(await all.keep(new Scanner(throwing)).scan(1)).toBeNull()
  })

  test('closed, it answers at once', async () => {
    const scanner = new Scanner(worker('./counting-worker.ts'))
    const waiting = [scanner.scan(1), scanner.scan(2)]
    scanner.close()
    expect(await Promise.all([...waiting, scanner.scan(3)])).toEqual([null, null, null])
  })
})
