// The Windows parsers over bytes: rows of connections, users, times, environments.
import { describe, expect, test } from 'bun:test'
import { bootTime, relativeId, sidText, unixMs, variables } from '../../../../src/attest/windows/layout.ts'
import { type End, findRow, SHAPES, type Shape } from '../../../../src/attest/windows/tcp-rows.ts'

const four = (last: number, port: number): End => ({ address: Uint8Array.of(127, 0, 0, last), port })
const six = (port: number): End => ({ address: Uint8Array.of(...Array<number>(15).fill(0), 1), port })

type Entry = { local: End; remote: End; state: number; pid: number; created?: bigint }

function table(shape: Shape, entries: Entry[]): Uint8Array {
  const bytes = new Uint8Array(shape.first + shape.size * entries.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, entries.length, true)
  entries.forEach(({ local, remote, state, pid, created = 0n }, i) => {
    const at = shape.first + i * shape.size
    bytes.set(local.address, at + shape.localAddress)
    bytes.set(remote.address, at + shape.remoteAddress)
    view.setUint16(at + shape.localPort, local.port)
    view.setUint16(at + shape.remotePort, remote.port)
    view.setUint32(at + shape.state, state, true)
    view.setUint32(at + shape.pid, pid, true)
    if (shape.created !== null) view.setBigUint64(at + shape.created, created, true)
  })
  return bytes
}

describe.each(['pid', 'module'] as const)('rows with %s', (kind) => {
  const shape = SHAPES[kind].v4
  const server = four(1, 18_301)
  const created = kind === 'module' ? 133_000_000_000_000_000n : 0n
  const row = { local: four(1, 5000), remote: server, state: 5, pid: 42, created }

  test('the row of just these two ends', () => {
    const others = [
      { ...row, local: four(2, 5000), pid: 1 },
      { ...row, local: four(1, 5001), pid: 2 },
      { ...row, local: server, remote: row.local, pid: 3 },
    ]
    expect(findRow(table(shape, [...others, row]), shape, row.local, server)).toEqual({ state: 5, pid: 42, created })
    expect(findRow(table(shape, others), shape, row.local, server)).toBeNull()
  })

  test('an open one before what is left of an earlier connection', () => {
    const left = { ...row, state: 11, pid: 0 }
    expect(findRow(table(shape, [left, row]), shape, row.local, server)).toMatchObject({ state: 5, pid: 42 })
    expect(findRow(table(shape, [left]), shape, row.local, server)).toMatchObject({ state: 11, pid: 0 })
  })

  test('a table that says more rows than it has is read to its end', () => {
    const bytes = table(shape, [row])
    new DataView(bytes.buffer).setUint32(0, 1000, true)
    expect(findRow(bytes, shape, row.local, server)).toMatchObject({ pid: 42 })
    expect(findRow(bytes, shape, four(9, 9), server)).toBeNull()
    for (let size = 0; size < bytes.length; size++)
      expect(findRow(bytes.subarray(0, size), shape, row.local, server)).toBeNull()
  })

  test('IPv6', () => {
    const entry = { ...row, local: six(5000), remote: six(18_301) }
    const bytes = table(SHAPES[kind].v6, [entry])
    expect(findRow(bytes, SHAPES[kind].v6, six(5000), six(18_301))).toEqual({ state: 5, pid: 42, created })
  })
})

test('a SID as text', () => {
  const bytes = Uint8Array.from(Buffer.from('ff0105000000000005150000000100000002000000ffffffffe9030000', 'hex'))
  expect(sidText(bytes, 1)).toBe('S-1-5-21-1-2-4294967295-1001')
  expect(relativeId('S-1-5-21-1-2-4294967295-1001')).toBe(1001)
  for (let size = 0; size < bytes.length; size++) expect(sidText(bytes.subarray(0, size), 1)).toBeNull()
  expect(sidText(bytes, -1)).toBeNull()
})

test('times', () => {
  expect(unixMs(116_444_736_000_000_000n)).toBe(0)
  expect(unixMs(116_444_736_012_345_678n)).toBe(1234)
  const view = new DataView(new ArrayBuffer(48))
  view.setBigInt64(0, 1_000_500n, true)
  view.setBigInt64(32, 500n, true)
  const before = bootTime(view)
  // the clock is set: both move
  view.setBigInt64(0, 1_000_000n, true)
  view.setBigInt64(32, 0n, true)
  expect(bootTime(view)).toBe(before)
})

test('an environment block ends at the empty entry; names compare without case', () => {
  const block = Buffer.from('=C:=C:\\x\0Path=a;b\0EMPTY=\0A=1=2\0\0AFTER=1\0', 'utf16le')
  expect(variables(block, ['PATH', 'EMPTY', 'A', 'AFTER', '=C:'])).toEqual({
    PATH: 'a;b',
    EMPTY: '',
    A: '1=2',
    '=C:': 'C:\\x',
  })
})
