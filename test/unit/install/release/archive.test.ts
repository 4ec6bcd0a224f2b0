// Archives of a release: the same bytes from the same files, readable by the system's own tools, damaged ones refused.
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { archiveKind, programIn, tarGz, zip } from '../../../../src/install/release/archive.ts'
import { sha256, sumIn, sumsText } from '../../../../src/install/release/checksums.ts'
import { tempFolder } from '../../../support/temp.ts'

const text = (words: string) => new TextEncoder().encode(words)
const ENTRIES = [
  { name: 'top/mail4agent', bytes: text('#!/bin/sh\necho here\n'), mode: 0o755 },
  { name: 'top/LICENSE', bytes: text('MIT'), mode: 0o644 },
]

test('the order of the files and the zone of the clock do not matter', () => {
  const zone = process.env.TZ
  const made = (tz: string, entries: typeof ENTRIES) => {
    process.env.TZ = tz
    return [sha256(tarGz(entries)), sha256(zip(entries))]
  }
  const one = made('Pacific/Auckland', ENTRIES)
  expect(made('America/Los_Angeles', [...ENTRIES].reverse())).toEqual(one)
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

test('tar unpacks it with its modes', () => {
  using folder = tempFolder()
  writeFileSync(join(folder.path, 'a.tar.gz'), tarGz(ENTRIES))
  const list = Bun.spawnSync(['tar', 'tvzf', 'a.tar.gz'], { cwd: folder.path, env: { ...process.env, TZ: 'UTC' } })
  expect(list.stdout.toString()).toMatch(/^-rw-r--r-- .*2000-01-01 .* top\/LICENSE\n-rwxr-xr-x .* top\/mail4agent\n$/)
  Bun.spawnSync(['tar', 'xzf', 'a.tar.gz'], { cwd: folder.path })
  expect(Bun.spawnSync([join(folder.path, 'top/mail4agent')]).stdout.toString()).toBe('here\n')
})

test('what was put in comes out, of any size', async () => {
  const content = fc.uint8Array({ maxLength: 3_000 })
  await fc.assert(
    fc.asyncProperty(content, content, async (bytes, other) => {
      const entries = [
        { name: 'x/mail4agent', bytes, mode: 0o755 },
        { name: 'x/README.md', bytes: other, mode: 0o644 },
      ]
      for (const archive of [tarGz(entries), zip(entries)])
        expect(await programIn(new Uint8Array(archive), 'mail4agent')).toEqual(bytes)
    }),
    { numRuns: 50 },
  )
})

test('its kind is told by its first bytes, and one that is cut off is not taken', async () => {
  expect([tarGz(ENTRIES), zip(ENTRIES), text('\x7fELF')].map(archiveKind)).toEqual(['tar.gz', 'zip', null])
  expect(await programIn(new Uint8Array(tarGz(ENTRIES)), 'mail4agent.exe')).toBeNull()
  for (const archive of [tarGz(ENTRIES), zip(ENTRIES)]) {
    const failed = await programIn(new Uint8Array(archive.subarray(0, archive.length - 30)), 'mail4agent').catch(
      (error) => error,
    )
    expect(failed).toBeInstanceOf(Error)
  }
})

test('sums are those of sha256sum', () => {
  using folder = tempFolder()
  writeFileSync(join(folder.path, 'a b'), 'one')
  const list = sumsText(new Map([['a b', sha256(text('one'))]]))
  writeFileSync(join(folder.path, 'SHA256SUMS'), list)
  expect(Bun.spawnSync(['sha256sum', '-c', 'SHA256SUMS'], { cwd: folder.path }).success).toBe(true)
  expect(sumIn(list, 'a b')).toBe(sha256(text('one')))
  expect(sumIn(list, 'a')).toBeNull()
})

test('what says that it unpacks to more than any release is not unpacked', async () => {
  const packed = Buffer.from(zip(ENTRIES))
  const at = packed.indexOf(Buffer.from([0x50, 0x4b, 1, 2]))
  for (let entry = at; entry >= 0; entry = packed.indexOf(Buffer.from([0x50, 0x4b, 1, 2]), entry + 1))
    packed.writeUInt32LE(0xf000_0000, entry + 24) // the size of the file: APPNOTE.TXT 4.3.12
  const error = await programIn(new Uint8Array(packed), 'mail4agent').catch((error: unknown) => error)
  expect(error).toBeInstanceOf(RangeError)
})
