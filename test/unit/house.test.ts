// The rules of the house as tests: imports go one way, every file says what lives in it, the type system is not escaped.
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const root = join(import.meta.dir, '..', '..')
const src = join(root, 'src')

/** A letter's way through the code. A folder imports from itself and from those before it. */
const ORDER = [
  'wire',
  'attest',
  'store',
  'engine',
  'identity',
  'client',
  'delivery',
  'wake',
  'link',
  'door',
  'install',
  'cli',
  'main.ts',
]

const files = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))

const sources = files(src).map((path) => ({ path: relative(src, path), text: readFileSync(path, 'utf8') }))
const tests = files(join(root, 'test')).map((path) => ({
  path: relative(root, path),
  text: readFileSync(path, 'utf8'),
}))
const room = (path: string) => ORDER.indexOf(path.split('/')[0] ?? '')

test('every folder of src is in the order', () => {
  expect(sources.filter(({ path }) => room(path) < 0).map(({ path }) => path)).toEqual([])
})

test('imports go one way', () => {
  const wrong = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)]
      .map(([, target]) => relative(src, join(src, path, '..', target ?? '')))
      .filter((target) => !target.startsWith('..') && room(target) > room(path))
      .map((target) => `${path} → ${target}`),
  )
  expect(wrong).toEqual([])
})

test('only attest/ calls the kernel through FFI, only store/ speaks SQL', () => {
  const uses = (pattern: RegExp, folder: string) =>
    sources.filter(({ path, text }) => !path.startsWith(folder) && pattern.test(text)).map(({ path }) => path)
  expect(uses(/'bun:ffi'/, 'attest/')).toEqual([])
  expect(uses(/'bun:sqlite'/, 'store/')).toEqual([])
})

test('the first line says what lives in a file', () => {
  const silent = [...sources, ...tests].filter(
    ({ text }) => !/^(#!.*\n)?\/\/ \S.{14,}/.test(text) && !/^\/\*\* @jsx/.test(text),
  )
  expect(silent.map(({ path }) => path)).toEqual([])
})

test('no escape from the type system, nothing left for later', () => {
  const escapes = /@ts-(ignore|expect-error|nocheck)|\bas any\b|: any\b|<any>/
  const code = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*|'[^'\n]*'/g, '')
  expect(
    sources.filter(({ text }) => escapes.test(code(text)) || /\b(TODO|FIXME)\b/.test(text)).map(({ path }) => path),
  ).toEqual([])
})

test('only the command line writes to the console', () => {
  const writes = sources.filter(
    ({ path, text }) => /console\.\w+\(/.test(text) && !path.startsWith('cli/') && path !== 'main.ts',
  )
  expect(writes.map(({ path }) => path)).toEqual([])
})

test('a file is one idea: none is over 320 lines', () => {
  expect(sources.filter(({ text }) => text.split('\n').length > 320).map(({ path }) => path)).toEqual([])
})

test('no test is switched off', () => {
  const off = tests.filter(
    ({ path, text }) =>
      path !== 'test/unit/house.test.ts' && /\b(test|describe|it)\.(skip|todo|only|skipIf|todoIf)\b/.test(text),
  )
  expect(off.map(({ path }) => path)).toEqual([])
})
