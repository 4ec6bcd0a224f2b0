// Keys of doors in a vault without a link: sealed, first before the file, forgotten; a vault that does not open closes the door.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DoorKeys, doorVaultFolder } from '../../../src/link/vault/door-keys.ts'
import { holderOf, Vault, vaultPath } from '../../../src/link/vault/vault.ts'
import { keptKeys, keyedDoor } from '../../../src/wake/secrets.ts'

const URL = 'http://127.0.0.1:9/of-the-vault'
const KEY = 'key-that-nobody-sees'
const webhook = { url: URL, key: KEY }
const other = { url: 'http://127.0.0.1:9/of-the-file' }

let dataDir: string
let keys: DoorKeys
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'm4a-door-keys-'))
  keys = new DoorKeys(dataDir, {})
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const found = (account = 'ben') => keyedDoor({ dataDir, secrets: keys }, account, 'webhook')
const writeFile = (doors: object): void => {
  mkdirSync(join(dataDir, 'wake'), { recursive: true })
  writeFileSync(join(dataDir, 'wake', 'ben.json'), JSON.stringify(doors), { mode: 0o600 })
}

describe('what is kept', () => {
  test('is there for another process at once, door by door, under any spelling of the name', () => {
    expect(keys.get('ben')).toEqual({ doors: {}, at: {} })
    expect(readdirSync(dataDir)).toEqual([]) // asking makes no vault
    const writer = new DoorKeys(dataDir, {})
    writer.put('Ben', { webhook }, 1_000, holderOf('file'))
    expect(keys.get('ben')).toEqual({ doors: { webhook }, at: { webhook: 1_000 } })
    writer.put('ben', { claude_routine: { url: URL, key: 'k' } }, 2_000, holderOf('file'))
    expect(keys.get('BEN').doors).toEqual({ webhook, claude_routine: { url: URL, key: 'k' } })
    expect(keys.get('ben').at).toEqual({ webhook: 1_000, claude_routine: 2_000 })
    expect(keys.get('cleo').doors).toEqual({})
    writer.putGateway({ port: 9, token: 't' }, 1, holderOf('file'))
    expect(keys.gateway()).toEqual({ port: 9, token: 't' })
    expect(keys.forget('ben')).toBe(true)
    expect(writer.get('ben').doors).toEqual({})
    expect(writer.forget('ben')).toBe(false)
    expect(keys.gateway()).not.toBeNull()
    expect(keys.forget(null)).toBe(true)
    expect(writer.gateway()).toBeNull()
  })

  test('lies in no file in clear, and in none that others may read', () => {
    keys.put('ben', { webhook }, 1_000, holderOf('file'))
    const folder = doorVaultFolder(dataDir)
    for (const name of readdirSync(folder)) {
      expect(readFileSync(join(folder, name), 'latin1')).not.toMatch(/nobody-sees|of-the-vault/)
      if (name !== 'vault.lock') expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
    }
    expect(statSync(folder).mode & 0o777).toBe(0o700)
  })

  test('follows its key to another holder', () => {
    keys.put('ben', { webhook }, 1_000, holderOf('file'))
    Vault.open(doorVaultFolder(dataDir), {}).rekey('file')
    expect(keys.get('ben').doors).toEqual({ webhook })
    const env = { DOORS: 'a secret that is long enough' }
    Vault.open(doorVaultFolder(dataDir), env).rekey('env', 'DOORS')
    expect(found()).toMatchObject({ door: null, source: 'vault', why: expect.stringContaining('vault_key_missing') })
    expect(new DoorKeys(dataDir, env).get('ben').doors).toEqual({ webhook })
  })
})

describe('which one counts', () => {
  test('the vault before the file, and the file where the vault has nothing', () => {
    writeFile({ webhook: other })
    expect(found()).toMatchObject({ door: other, source: 'file', at: expect.any(Number) })
    keys.put('ben', { webhook }, 1_000, holderOf('file'))
    expect(found()).toEqual({ door: webhook, source: 'vault', at: 1_000 })
    keys.forget('ben')
    expect(found()).toMatchObject({ door: other, source: 'file' })
    expect(found('cleo')).toEqual({ door: null, why: 'nothing is set up', source: null })
  })

  test.each([
    ['another key', 'vault_damaged', (at: string) => overwriteKey(at, Buffer.alloc(32, 7))],
    ['half a key', 'vault_key_missing', (at: string) => overwriteKey(at, Buffer.alloc(16, 7))],
    ['no key', 'vault_key_missing', (at: string) => rmSync(keyPath(at))],
    ['a cut vault', 'vault_damaged', (at: string) => writeFileSync(vaultPath(at), sealed(at).slice(0, 90))],
    ['an empty vault', 'vault_damaged', (at: string) => writeFileSync(vaultPath(at), '')],
    ['a changed vault', 'vault_damaged', (at: string) => writeFileSync(vaultPath(at), changed(sealed(at)))],
  ])('%s: refused by name, whatever the file says, with nothing of it said', (_, kind, damage) => {
    writeFile({ webhook: other })
    keys.put('ben', { webhook }, 1_000, holderOf('file'))
    damage(doorVaultFolder(dataDir))
    keys = new DoorKeys(dataDir, {})
    expect(found()).toMatchObject({ door: null, source: 'vault', why: expect.stringContaining(kind) })
    const told = JSON.stringify([found(), keptKeys({ dataDir, secrets: keys }, 'ben')])
    expect(told).not.toMatch(/nobody-sees|of-the-/)
    expect(() => keys.put('ben', { webhook }, 2_000, holderOf('file'))).toThrow()
  })

  test('is told with source, state and time alone', () => {
    keys.put('ben', { webhook, claude_routine: { url: 'https://example.org/x', key: KEY } }, 1_000, holderOf('file'))
    const off = 'its address is off this machine, and "consent": true does not stand beside it'
    expect(keptKeys({ dataDir, secrets: keys }, 'ben')).toEqual([
      { door: 'routine-webhook', source: 'vault', state: 'ready', at: 1_000 },
      { door: 'claude-routine', source: 'vault', state: off, at: 1_000 },
    ])
  })
})

const keyPath = (at: string): string => join(at, readdirSync(at).find((name) => name.endsWith('.key')) ?? 'none')
const overwriteKey = (at: string, key: Uint8Array): void => writeFileSync(keyPath(at), key)
const sealed = (at: string): string => readFileSync(vaultPath(at), 'utf8')
const changed = (text: string): string => text.replace('"generation":1', '"generation":2')
