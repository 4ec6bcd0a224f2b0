// Private folders: what is made, what links count as, what is refused, and that nobody is told to close a folder of others.
import { expect, test } from 'bun:test'
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { privateFolder } from '../../../src/door/folders.ts'
import { Refusal } from '../../../src/wire/refusal.ts'
import { folder } from './support.ts'

function refusal(path: string, option?: string): Refusal {
  try {
    privateFolder(path, option)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error('it was taken')
}

test('a link to a private folder is as good as the folder', () => {
  using place = folder()
  const real = join(place.path, 'real')
  const link = join(place.path, 'link')
  mkdirSync(real, { mode: 0o700 })
  symlinkSync(real, link)
  privateFolder(link)
  privateFolder(join(link, 'deeper'))
  expect(statSync(join(real, 'deeper')).mode & 0o777).toBe(0o700)
  chmodSync(real, 0o755)
  expect(refusal(link)).toMatchObject({ kind: 'bad_permissions', facts: { path: link } })
})

test('what is no folder is refused by name: a file, and a link that leads nowhere', () => {
  using place = folder()
  const file = join(place.path, 'file')
  const link = join(place.path, 'link')
  writeFileSync(file, '')
  symlinkSync(join(place.path, 'gone', 'away'), link)
  for (const path of [file, join(file, 'below'), link])
    expect(refusal(path, '--socket')).toMatchObject({ kind: 'usage', hint: 'choose another folder with --socket' })
})

test('only a folder of the mailbox is to be closed with chmod', () => {
  using place = folder()
  const open = (name: string) => {
    const path = join(place.path, name)
    mkdirSync(path)
    chmodSync(path, 0o755)
    return path
  }
  expect(refusal('/dev', '--socket').hint).toStartWith('choose another folder with --socket')
  expect(refusal(open('others')).hint).toStartWith('choose another folder with --data-dir')
  const named = open('mail4agent')
  expect(refusal(named).hint).toBe(`close it: chmod 700 ${named}`)
  const used = open('used')
  writeFileSync(join(used, 'mail.sqlite'), '')
  expect(refusal(used).hint).toBe(`close it: chmod 700 ${used}`)
})
