// The vault and the device store of a linked mailbox: wrong key, damage, copies, a second process, new keys, backups; by name.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Synapse } from '../support/synapse.ts'
import { Machine, until } from './link-machines.ts'

let synapse: Synapse
let desk: Machine
let folder: string

beforeAll(async () => {
  synapse = await Synapse.start()
  desk = await Machine.start(synapse, 'vera', 'codex')
  folder = join(desk.box.data, 'link')
}, 300_000)

afterAll(async () => {
  await desk?.[Symbol.asyncDispose]()
  await synapse?.[Symbol.asyncDispose]()
})

const keyFile = () => join(folder, readdirSync(folder).find((name) => name.endsWith('.key')) ?? 'none')
const restart = async () => {
  await desk.box.down()
  await desk.box.up()
}
const down = (kind: string) =>
  until(kind, async () => {
    const { state, reason } = await desk.status()
    return state === 'down' && reason.startsWith(kind) ? reason : null
  })
const on = () => until('on', async () => (await desk.status()).state === 'on')

test('files are for their owner only, and hold no secret in clear', async () => {
  await on()
  for (const name of readdirSync(folder)) expect([name, statSync(join(folder, name)).mode & 0o77]).toEqual([name, 0])
  const text = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join()
  expect(text).not.toContain('pw-vera')
  expect(text).not.toContain('syt_')
})

test('status says who holds the key; a second process on the device is refused', async () => {
  const status = await desk.cli(['vault', 'status', '--json'])
  expect(JSON.parse(status.out)).toMatchObject({
    holder: 'file',
    labels: expect.arrayContaining(['store-key', 'session']),
  })
  const lock = new (await import('bun:sqlite')).Database(join(folder, 'link.sqlite'))
  expect(() => lock.query('SELECT * FROM meta').all()).toThrow('locked')
  lock.close()
})

test('a new key: the old one opens nothing any more', async () => {
  const before = keyFile()
  const old = readFileSync(before)
  expect((await desk.cli(['vault', 'rotate'])).code).toBe(0)
  expect(existsSync(before)).toBe(false)
  await restart()
  await on()
  const present = keyFile()
  const right = readFileSync(present)
  writeFileSync(present, old, { mode: 0o600 })
  await restart()
  expect(await down('vault_damaged')).toContain('not its key')
  writeFileSync(present, right, { mode: 0o600 })
  await restart()
  await on()
})

test('an environment variable can hold the key, and is not replaced by anything when it is missing', async () => {
  const moved =
    await Bun.$`${process.env.M4A_CLI_BIN ?? 'dist/mail4agent'} vault move env --variable DESK_VAULT --data-dir ${desk.box.data}`
      .env({ PATH: process.env.PATH ?? '', HOME: desk.box.root, DESK_VAULT: 'a secret of many words' })
      .quiet()
      .nothrow()
  expect(moved.exitCode).toBe(0)
  expect(keyFile()).toBe(join(folder, 'none'))
  await restart()
  expect(await down('vault_key_missing')).toContain('DESK_VAULT')
  expect((await desk.send('claude@laptop', 's', 'b').catch((error) => error.message)) as string).toBe(
    'vault_key_missing',
  )
  await desk.box.down()
  await desk.box.up({ DESK_VAULT: 'a secret of many words' })
  await on()
})

test('a backup opens with its passphrase alone, and never overwrites', async () => {
  const env = { PATH: process.env.PATH ?? '', HOME: desk.box.root, DESK_VAULT: 'a secret of many words' }
  const binary = process.env.M4A_CLI_BIN ?? 'dist/mail4agent'
  const file = join(desk.box.root, 'vault.backup')
  const pass = desk.file('pass', 'correct horse battery')
  const wrong = desk.file('wrong', 'incorrect horse battery')
  const run = (argv: string[]) => Bun.$`${binary} ${argv} --data-dir ${desk.box.data}`.env(env).quiet().nothrow()
  expect((await run(['vault', 'backup', file, '--passphrase-file', pass])).exitCode).toBe(0)
  expect((await run(['vault', 'backup', file, '--passphrase-file', pass])).exitCode).toBe(2)
  expect((await run(['vault', 'restore', file, '--passphrase-file', pass])).stderr.toString()).toContain(
    'nothing was written',
  )
  await desk.box.down()
  renameSync(join(folder, 'vault.json'), join(desk.box.root, 'vault.old'))
  const refused = await run(['vault', 'restore', file, '--passphrase-file', wrong])
  expect(refused.exitCode).toBe(1)
  expect(existsSync(join(folder, 'vault.json'))).toBe(false)
  expect((await run(['vault', 'restore', file, '--passphrase-file', pass])).exitCode).toBe(0)
  await desk.box.up()
  await on()
})

test('a damaged vault is refused by name', async () => {
  await desk.box.down()
  const path = join(folder, 'vault.json')
  const whole = readFileSync(path, 'utf8')
  writeFileSync(path, whole.replace(/"generation":\d+/, '"generation":1'), { mode: 0o600 })
  await desk.box.up()
  await down('vault_damaged')
  writeFileSync(path, whole, { mode: 0o600 })
  await restart()
  await on()
})

test('a copy of the device store, or an older one, is refused: its keys would be used twice', async () => {
  await desk.box.down()
  const kept = join(desk.box.root, 'kept')
  cpSync(folder, kept, { recursive: true })
  await desk.box.up()
  await on()
  await desk.box.down()
  rmSync(folder, { recursive: true })
  cpSync(kept, folder, { recursive: true })
  await desk.box.up()
  expect(await down('link_restored')).toContain('copied')
  expect((await desk.box.admin('link/off', {})) as object).toEqual({})
  expect((await desk.status()).state).toBe('off')
  expect(existsSync(folder)).toBe(false)
})
