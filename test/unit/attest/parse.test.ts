// The parsers below attestation: the stat line, addresses, and the platform that has no attestor.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { addressBytes } from '../../../src/attest/address.ts'
import { realUid } from '../../../src/attest/linux/process-files.ts'
import { parseStat, stat } from '../../../src/attest/linux/stat.ts'
import { refuseAll } from '../../../src/attest/none.ts'

/** A stat line whose field n holds n, but for those given. */
function line(comm: string, given: Record<number, number | string> = {}) {
  const fields = Array.from({ length: 52 }, (_, i) => given[i + 1] ?? i + 1)
  return new TextEncoder().encode(`${fields[0]} (${comm}) ${given[3] ?? 'S'} ${fields.slice(3).join(' ')}\n`)
}

describe('stat line', () => {
  test('whatever the name holds, the fields after it are read', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 15 }), fc.nat(), (comm, start) => {
        const bytes = line(comm, { 22: start })
        expect(parseStat(bytes, bytes.length)).toBe(true)
        expect(stat).toMatchObject({ state: 83, ppid: 4, sid: 6, tty: 7, start, startCode: 26, startStack: 28 })
        expect(stat).toMatchObject({ startBreak: 47, argStart: 48, envEnd: 51 })
      }),
    )
    const bytes = line('a b) R (1 2) x', { 3: 'Z', 8: -1, 25: '18446744073709551615' })
    expect(parseStat(bytes, bytes.length)).toBe(true)
    expect(stat).toMatchObject({ state: 90, ppid: 4, envEnd: 51 })
  })

  test('a line cut short is no line', () => {
    const bytes = line('x')
    for (let size = 0; size < bytes.length - 6; size++) expect(parseStat(bytes, size)).toBe(false)
  })

  test('the real user is the first of the Uid line', () => {
    expect(realUid('Name:\tUid: 7\nUid:\t1000\t0\t0\t0\n')).toBe(1000)
    expect(realUid('Name:\tx\n')).toBe(-1)
  })
})

describe('addresses', () => {
  test('IPv4 in every spelling is the same four bytes', () => {
    fc.assert(
      fc.property(fc.ipV4(), (text) => {
        const bytes = addressBytes(text)
        expect(bytes).toEqual(Uint8Array.from(text.split('.').map(Number)))
        expect(addressBytes(`::ffff:${text}`)).toEqual(bytes)
      }),
    )
    expect(addressBytes('::ffff:7f00:1')).toEqual(Uint8Array.of(127, 0, 0, 1))
  })

  test('IPv6 is sixteen bytes; what is no address is null', () => {
    expect(addressBytes('::1')).toEqual(Uint8Array.from([...Array(15).fill(0), 1]))
    expect(addressBytes('0:0:0:0:0:0:0:1')).toEqual(addressBytes('::1'))
    expect(addressBytes('fe80::1:2')?.[15]).toBe(2)
    for (const text of ['', '1.2.3', '1.2.3.256', '::1::', 'localhost', '1:2:3', 'x::1', '1:2:3:4:5:6:7:8:9'])
      expect(addressBytes(text)).toBeNull()
  })
})

test('without an attestor everything is refused by name', async () => {
  const none = refuseAll('no attestation here')
  const refusal = { ok: false as const, kind: 'unsupported_platform' as const }
  const at = { address: '127.0.0.1', port: 1 }
  expect(await none.tcp(() => at, at)).toMatchObject(refusal)
  expect(await none.unix(none.accept(0))).toMatchObject(refusal)
  expect(none.alive({ pid: process.pid, start: '0', pidfd: null })).toBe(false)
  expect(await none.selfTest()).toEqual({ ok: false, reason: 'no attestation here' })
  none.close()
})
