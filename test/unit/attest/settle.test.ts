// How long a connection may seem shared before it is refused: for as long as the same processes have it, or until time is up.
import { afterEach, describe, expect, test } from 'bun:test'
import { Worker } from 'node:worker_threads'
import type { Verdict } from '../../../src/attest/attestor.ts'
import { settle, sharedBy, type Unsettled } from '../../../src/attest/linux/prove.ts'
import { Scanner } from '../../../src/attest/linux/scanner.ts'
import { refuse } from '../../../src/attest/refuse.ts'
import { attested, cleanUp, onLinux, openDoor } from './support.ts'

const all = cleanUp()
afterEach(() => all.run())
const never = () => {
  throw new Error('no search was asked for')
}
const shared = (...holders: string[]): Unsettled => ({
  again: 'wait',
  inode: 1,
  refusal: refuse('shared_connection', { inode: 1 }),
  holders,
})
const done: Verdict = refuse('peer_gone', { at: 'the end of the test' })

/** What becomes of these steps, and how many tries it took. */
async function settled(stepAt: (tries: number) => Verdict | Unsettled) {
  let tries = 0
  const begin = stepAt(0)
  if (!('again' in begin)) throw new Error('the first step decides nothing')
  const scanner = all.keep(new Scanner(never))
  const verdict = await settle(begin, () => stepAt(++tries), scanner)
  return { kind: verdict.ok ? 'named' : verdict.kind, tries }
}

describe('settle', () => {
  test('the same two all the while are refused', async () => {
    expect(await settled(() => shared('1 1', '2 2'))).toEqual({ kind: 'shared_connection', tries: 3 })
  })

  test('a child that stays is found among those that come and go', async () => {
    const found = await settled((tries) => shared('1 1', '2 2', `${tries + 3} 3`))
    expect(found).toEqual({ kind: 'shared_connection', tries: 3 })
  })

  test('another child each time is waited for, also one with the pid of the one before', async () => {
    for (const name of [(n: number) => `${n + 2} 2`, (n: number) => `2 ${n + 2}`])
      expect(await settled((tries) => (tries < 20 ? shared('1 1', name(tries)) : done))).toEqual({
        kind: 'peer_gone',
        tries: 20,
      })
  })

  test('but not for ever', async () => {
    const began = performance.now()
    expect((await settled((tries) => shared('1 1', `${tries} 2`))).kind).toBe('shared_connection')
    expect(performance.now() - began).toBeWithin(1900, 4000)
  })

  test('a search that could not look everywhere proves nothing, and says why', async () => {
    const scanner = all.keep(new Scanner(() => new Worker(new URL('./starved-worker.ts', import.meta.url))))
    const first: Unsettled = { again: 'scan', inode: 1, refusal: refuse('no_holder', {}) }
    expect(await settle(first, never, scanner)).toEqual(refuse('unreadable', { scan: 'failed', errno: 24 }))
    const dead = all.keep(new Scanner(() => new Worker(new URL('./broken-worker.ts', import.meta.url))))
    expect(await settle(first, never, dead)).toEqual(refuse('unreadable', { scan: 'failed' }))
  })
})

describe.if(onLinux)('on Linux', () => {
  test('a process is known by its start too; one that has ended has nothing', async () => {
    const peer = await all.peer()
    const { holders } = sharedBy([process.pid, peer.pid], 1)
    expect(holders).toHaveLength(2)
    expect(holders?.[1]).toMatch(new RegExp(`^${peer.pid} \\d+$`))
    await peer.kill()
    expect(sharedBy([process.pid, peer.pid], 1).holders).toHaveLength(1)
  })

  test('a caller that starts children all the time is named at each call', async () => {
    const door = all.keep(openDoor(all.attestor()))
    const client = `
      let on = true
      const spawning = async () => { while (on) await Bun.spawn(['true']).exited }
      const spawners = [spawning(), spawning()]
      for (let i = 0; i < 60; i++) {
        const headers = i % 3 === 0 ? { connection: 'close' } : {}
        if (await (await fetch(process.argv[1], { headers })).text() !== 'ok') process.exit(1)
        await Bun.sleep(5)
      }
      on = false
      await Promise.all(spawners)`
    const child = Bun.spawn([process.execPath, '-e', client, door.url], { stdio: ['ignore', 'ignore', 'inherit'] })
    for (let i = 0; i < 60; i++) expect(attested(await door.verdicts.next()).process.pid).toBe(child.pid)
    expect(await child.exited).toBe(0)
  }, 20_000)
})
