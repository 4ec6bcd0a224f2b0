// A backup that cannot be written is refused with the reason, and leaves nothing behind.
import { expect, test } from 'bun:test'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from '../../../support/temp.ts'
import { openOffice, refusal } from './office.ts'

test('a folder that we may not write in is named', async () => {
  using folder = tempFolder()
  if (process.platform === 'win32') return
  const isRoot = process.getuid?.() === 0
  if (isRoot && process.platform !== 'linux') return
  chmodSync(folder.path, 0o500)
  const dataDir = isRoot ? '/sys' : folder.path // nobody makes a folder there: sysfs(5)
  const office = await openOffice(dataDir)
  const { kind, message, facts } = await refusal(office.run('backup', { name: 'copy' }))
  chmodSync(folder.path, 0o700)
  expect(kind).toBe('bad_permissions')
  expect(message).toStartWith(`cannot write ${join(dataDir, 'backups')}`)
  expect(facts.path).toBe(join(dataDir, 'backups'))
  await office.close()
})
