// The vault: sealed, whole after any crash, changed by one at a time; keys that change hands; backups under a passphrase.
import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backupVault, restoreVault } from '../../../src/link/vault/backup.ts'
import { makeKey } from '../../../src/link/vault/holders.ts'
import { holderOf, Vault, vaultPath } from '../../../src/link/vault/vault.ts'
import { Refusal } from '../../../src/wire/refusal.ts'

const folder = () => mkdtempSync(join(tmpdir(), 'm4a-vault-'))
const kindOf = (work: () => unknown): string => {
  try {
    work()
    return 'none'
  } catch (error) {
    return error instanceof Refusal ? error.kind : String(error)
  }
}

test('what is put in comes out again, and is on the disk sealed', () => {
  const at = folder()
  Vault.make(at, {}, holderOf('file'), { a: 'first-secret' }).change({ b: 'second-secret' })
  const again = Vault.open(at, {})
  expect([again.get('a'), again.get('b'), again.get('c')]).toEqual(['first-secret', 'second-secret', null])
  expect(readFileSync(vaultPath(at), 'utf8')).not.toContain('secret')
  for (const name of readdirSync(at))
    if (name !== 'vault.lock') expect(statSync(join(at, name)).mode & 0o777).toBe(0o600)
})

test('two that change it at once lose nothing', () => {
  const at = folder()
  const one = Vault.make(at, {}, holderOf('file'), {})
  const other = Vault.open(at, {})
  one.change({ a: '1' })
  other.change({ b: '2' })
  one.change({ c: '3' })
  expect(Vault.open(at, {}).labels).toEqual(['a', 'b', 'c'])
})

test('any changed byte of it is refused', () => {
  const at = folder()
  Vault.make(at, {}, holderOf('file'), { a: 'x' })
  const whole = readFileSync(vaultPath(at))
  for (let index = 0; index < whole.length - 1; index++) {
    const bytes = Buffer.from(whole)
    bytes[index] = (bytes[index] ?? 0) ^ 1
    writeFileSync(vaultPath(at), bytes)
    const kind = kindOf(() => Vault.open(at, {}).get('a'))
    expect(['vault_damaged', 'vault_key_missing']).toContain(kind)
  }
})

test('a crash between two keys leaves a vault that opens, and the key that nobody needs goes away', () => {
  const at = folder()
  const vault = Vault.make(at, {}, holderOf('file'), { a: 'x' })
  makeKey(at, holderOf('file'), {}) // the new key was written, the vault not yet
  expect(readdirSync(at).filter((name) => name.endsWith('.key'))).toHaveLength(2)
  expect(Vault.open(at, {}).get('a')).toBe('x')
  vault.change({ b: 'y' })
  expect(readdirSync(at).filter((name) => name.endsWith('.key'))).toHaveLength(1)
})

test('the holder is never replaced by another one', () => {
  const at = folder()
  const env = { KEY: 'sixteen characters' }
  const vault = Vault.make(at, env, holderOf('file'), { a: 'x' })
  vault.rekey('env', 'KEY')
  expect(readdirSync(at).filter((name) => name.endsWith('.key'))).toEqual([])
  expect(Vault.open(at, env).holder.kind).toBe('env')
  expect(kindOf(() => Vault.open(at, {}))).toBe('vault_key_missing')
  expect(kindOf(() => Vault.open(at, { KEY: 'sixteen charactersX' }))).toBe('vault_damaged')
  expect(kindOf(() => vault.rekey('env', 'not a name'))).toBe('usage')
  expect(kindOf(() => Vault.make(folder(), { KEY: 'short' }, holderOf('env', 'KEY'), {}))).toBe('usage')
  vault.rekey('file')
  expect(Vault.open(at, {}).get('a')).toBe('x')
})

test('where there is none, or one is there already, that is said', () => {
  const at = folder()
  expect(kindOf(() => Vault.open(at, {}))).toBe('link_off')
  Vault.make(at, {}, holderOf('file'), {})
  expect(kindOf(() => Vault.make(at, {}, holderOf('file'), {}))).toBe('link_exists')
})

test('a backup comes back with its passphrase alone, and overwrites nothing', () => {
  const at = folder()
  const file = join(folder(), 'backup')
  const vault = Vault.make(at, {}, holderOf('file'), { a: 'x' })
  expect(kindOf(() => backupVault(vault, file, 'short'))).toBe('usage')
  backupVault(vault, file, 'correct horse battery')
  expect(kindOf(() => backupVault(vault, file, 'correct horse battery'))).toBe('usage')
  const other = folder()
  expect(kindOf(() => restoreVault(other, {}, file, 'incorrect horse', holderOf('file')))).toBe('vault_damaged')
  expect(readdirSync(other)).toEqual([])
  expect(kindOf(() => restoreVault(at, {}, file, 'correct horse battery', holderOf('file')))).toBe('link_exists')
  expect(restoreVault(other, {}, file, 'correct horse battery', holderOf('file')).get('a')).toBe('x')
})
