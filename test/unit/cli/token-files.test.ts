// Secrets in files: written before they count, never readable by others, never outside their folder.
import { expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { forgetToken, prepareToken, readToken, storedToken, tokenNames } from '../../../src/cli/token-files.ts'
import { tempFolder } from '../../support/temp.ts'

test('a secret is kept under its account, 0600 in a 0700 folder', () => {
  using folder = tempFolder()
  prepareToken(folder.path, 'Claude', 'abc').keep()
  const path = join(folder.path, 'tokens', 'Claude')
  expect(readFileSync(path, 'utf8')).toBe('abc\n')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder.path, 'tokens')).mode & 0o777).toBe(0o700)
  expect(storedToken(folder.path, 'cLAUDE')).toBe('abc')
})

test('a pending secret is nobody’s, and a dropped one leaves nothing', () => {
  using folder = tempFolder()
  prepareToken(folder.path, 'claude', 'old').keep()
  const pending = prepareToken(folder.path, 'claude', 'new')
  expect(tokenNames(folder.path)).toEqual(['claude'])
  expect(storedToken(folder.path, 'claude')).toBe('old')
  pending.drop()
  expect(readdirSync(join(folder.path, 'tokens'))).toEqual(['claude'])
})

test('another spelling of the name replaces the file, never joins it', () => {
  using folder = tempFolder()
  prepareToken(folder.path, 'Claude', 'old').keep()
  prepareToken(folder.path, 'claude', 'new').keep()
  expect(readdirSync(join(folder.path, 'tokens'))).toEqual(['claude'])
  forgetToken(folder.path, 'CLAUDE')
  expect(tokenNames(folder.path)).toEqual([])
})

test.each(['.', '..', '.hidden', '...'])('%s is an account, not a path', (name) => {
  using folder = tempFolder()
  prepareToken(folder.path, name, 'abc').keep()
  expect(readdirSync(folder.path)).toEqual(['tokens'])
  expect(tokenNames(folder.path)).toEqual([name])
  expect(storedToken(folder.path, name)).toBe('abc')
})

test('the operator of the first start is the last candidate', () => {
  using folder = tempFolder()
  expect(tokenNames(folder.path)).toEqual([])
  writeFileSync(join(folder.path, 'operator.key'), 'key', { mode: 0o600 })
  prepareToken(folder.path, 'zed', 'abc').keep()
  expect(tokenNames(folder.path)).toEqual(['zed', 'operator'])
  expect(storedToken(folder.path, 'Operator')).toBe('key')
})

test('what others may read, or what is no token, is refused by name', () => {
  using folder = tempFolder()
  const path = join(folder.path, 'token')
  expect(readToken(path)).toBe(null)
  writeFileSync(path, 'abc\n', { mode: 0o600 })
  expect(readToken(path)).toBe('abc')
  for (const mode of [0o640, 0o604, 0o620]) {
    chmodSync(path, mode)
    expect(() => readToken(path)).toThrow(`others may read ${path}`)
  }
  chmodSync(path, 0o600)
  for (const text of ['', 'two words', 'a\nb', 'x'.repeat(5_000)]) {
    writeFileSync(path, text)
    expect(() => readToken(path)).toThrow('holds no token')
  }
  mkdirSync(join(folder.path, 'folder'))
  expect(() => readToken(join(folder.path, 'folder'))).toThrow('is no file')
  symlinkSync(path, join(folder.path, 'link'))
  writeFileSync(path, 'abc')
  expect(readToken(join(folder.path, 'link'))).toBe('abc')
})
