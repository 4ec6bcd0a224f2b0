// The macOS attestor on Linux: its decisions over real processes and sockets, which a library of ours shows it as macOS would.
import { afterAll, beforeAll, describe, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { passNested } from './support/nested.ts'
import { havePackages } from './support/packages.ts'

const runs = process.platform === 'linux' && (Bun.which('gcc') !== null || havePackages(['/usr/bin/gcc'], ['gcc']))
const folder = mkdtempSync(join(tmpdir(), 'm4a-darwin-'))
const library = join(folder, 'libSystem.so')

beforeAll(() => {
  if (!runs) return
  const source = join(import.meta.dir, 'support/darwin-on-linux.c')
  const compiled = Bun.spawnSync(['gcc', '-shared', '-fPIC', '-O2', '-o', library, source])
  if (!compiled.success) throw new Error(compiled.stderr.toString())
}, 60_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Tests of the attestor, by what their names have in common; the others ask for what only Linux has. */
const TESTS = [
  ['tcp', 'two names|many sockets|::1|no such connection|has exited|took over|second look'],
  ['unix', 'unix'],
  ['ancestors', 'ancestors|our own|parent|named variables'],
] as const

describe.if(runs)('macOS', () => {
  test.each(TESTS)(
    '%s',
    (name, which) => {
      const preload = join(import.meta.dir, 'support/as-darwin.ts')
      const file = join(import.meta.dir, '..', 'unit', 'attest', `${name}.test.ts`)
      passNested(['--preload', preload, '-t', which, file], { M4A_TEST_LIBRARY: library })
    },
    120_000,
  )
})
