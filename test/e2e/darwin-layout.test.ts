// What the macOS parsers read, against the structures as a C compiler lays them out.
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as layout from '../../src/attest/darwin/layout.ts'
import { hintFor } from '../../src/attest/darwin/pcb-list.ts'
import { havePackages } from './support/packages.ts'

const hasCompiler = Bun.which('gcc') !== null || havePackages(['/usr/bin/gcc'], ['gcc', 'libc6-dev'])

function fixtures(): Record<string, Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), 'm4a-darwin-'))
  const program = join(folder, 'layout')
  const built = Bun.spawnSync(['gcc', '-o', program, join(import.meta.dir, 'support/darwin-layout.c')])
  if (!built.success) throw new Error(built.stderr.toString())
  const printed: Record<string, string> = JSON.parse(Bun.spawnSync([program]).stdout.toString())
  rmSync(folder, { recursive: true })
  return Object.fromEntries(
    Object.entries(printed).map(([name, hex]) => [name, Uint8Array.from(Buffer.from(hex, 'hex'))]),
  )
}

const loopback = { address: Uint8Array.of(127, 0, 0, 1), port: 8080 }
const client = { address: Uint8Array.of(127, 9, 8, 7), port: 51_515 }
const six = (port: number) => ({ address: Uint8Array.of(...Array<number>(15).fill(0), 1), port })

describe.if(hasCompiler)('macOS', () => {
  const made = hasCompiler ? fixtures() : {}
  const bytes = (name: string): Uint8Array => made[name] ?? new Uint8Array()

  test('every structure has the size that the kernel is asked for', () => {
    const { SIZE } = layout
    for (const [name, size] of [
      ['tcp4', SIZE.socket],
      ['fds', SIZE.fd * 4],
      ['info', SIZE.info],
      ['short', SIZE.shortInfo],
      ['unique', SIZE.unique],
      ['folders', SIZE.folders],
    ] as const)
      expect(bytes(name).length).toBe(size)
  })

  test('sockets', () => {
    expect(layout.socketInfo(bytes('tcp4'))).toEqual({
      shared: true,
      pcb: 0x1122334455667788n,
      peer: 0n,
      tcp: { generation: 777n, local: client, remote: loopback, state: 5 },
    })
    expect(layout.socketInfo(bytes('tcp6'))).toMatchObject({
      shared: false,
      tcp: { local: six(51_515), remote: six(8080) },
    })
    expect(layout.socketInfo(bytes('un'))).toEqual({ shared: false, pcb: 8n, peer: 10n, tcp: null })
    expect(layout.socketsAmong(bytes('fds'))).toEqual([3, 12])
  })

  test('processes', () => {
    const info = { ppid: 99, uid: 501, realUid: 502, startUs: 1_700_000_000_123_456n }
    expect(layout.infoOf(bytes('info'))).toEqual({ ...info, comm: 'claude', tty: 0x1000_0003 })
    expect(layout.infoOf(bytes('named'))).toEqual({ ...info, comm: 'a name longer than sixteen', tty: 0 })
    const launchd = { ppid: 0, uid: 3, realUid: 4, comm: 'launchd', tty: 0, startUs: 0n }
    expect(layout.shortInfoOf(bytes('short'))).toEqual(launchd)
    expect(layout.uniqueOf(bytes('unique'))).toEqual({ id: 900_001n, version: 31_337 })
    expect(layout.currentFolder(bytes('folders'))).toBe('/Users/u/work')
    expect(layout.tokenOf(bytes('token'))).toEqual({ uid: 501, pid: 4242, version: 31_337 })
  })

  test('the list of connections', () => {
    const list = bytes('list')
    expect(hintFor(list, client, loopback)).toEqual({ uid: 501, pids: [4242, 4243] })
    expect(hintFor(list, six(51_516), six(8080))).toEqual({ uid: 501, pids: [77, 78] })
    expect(hintFor(list, loopback, client)).toBeNull() // the other end has 127.9.8.7 as its own address
    expect(hintFor(list, { ...client, port: 1 }, loopback)).toBeNull()
    for (let size = 0; size < list.length; size += 7) {
      const found = hintFor(list.subarray(0, size), client, loopback)
      if (found !== null) expect(found).toEqual({ uid: 501, pids: [4242, 4243] })
    }
  })
})
