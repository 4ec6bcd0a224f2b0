// A path that a person gave and that cannot be used is refused as input, by name; with the mailbox asked for nothing.
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aboutGiven } from '../../../src/cli/given-path.ts'
import { startDaemon } from '../../../src/door/daemon.ts'
import { tempFolder } from '../../support/temp.ts'
import { silent } from '../door/support.ts'
import { sh } from './shell.ts'

const PATHS: [string[], string][] = [
  [['admin', 'backup', 'none/x'], 'there is no folder "@/none"'],
  [['admin', 'backup', 'none/deep/x'], 'there is no folder "@/none"'],
  [['admin', 'backup', 'file/x'], '"@/file" is no folder'],
  [['admin', 'restore', 'none'], 'there is no "@/none"'],
  [['admin', 'restore', 'folder'], '"@/folder" is a folder, not a file'],
  [['admin', 'restore', '--check', 'folder'], '"@/folder" is a folder, not a file'],
  [['export', '--out', 'none/x'], 'there is no folder "@/none"'],
  [['export', '--out=file/x'], '"@/file" is no folder'],
  [['import', 'none/x'], 'there is no folder "@/none"'],
  [['import', 'folder'], '"@/folder" is a folder, not a file'],
  [['import', 'aipass', 'none'], 'there is no "@/none"'],
  [['import', 'aipass', 'file'], '"@/file" is no folder'],
  [['send', 'operator', '--file', 'folder'], '"@/folder" is a folder, not a file'],
  [['send', 'operator', '-f', 'none'], 'there is no "@/none"'],
  [['send', 'operator', '-f', 'file/x'], '"@/file/x" leads through something that is no folder'],
  [['upgrade', '--from', 'folder'], '"@/folder" is a folder, not a file'],
  [['upgrade', '--from', 'none'], 'there is no "@/none"'],
]

test('every command that takes a path', async () => {
  using folder = tempFolder()
  mkdirSync(join(folder.path, 'folder'))
  writeFileSync(join(folder.path, 'file'), 'x')
  const dataDir = join(folder.path, 'data')
  const daemon = await startDaemon({ dataDir, port: 0, socket: join(dataDir, 's'), recognised: [], log: silent })
  try {
    for (const [words, message] of PATHS) {
      const { code, out, err } = await sh(words, { env: { M4A_DATA_DIR: dataDir }, cwd: folder.path })
      expect({ words, code, out, first: err.split('\n')[0] }).toEqual({
        words,
        code: 2,
        out: '',
        first: `refused: ${message.replace('@', folder.path)}`,
      })
    }
    expect(existsSync(join(dataDir, 'backups')) ? readdirSync(join(dataDir, 'backups')) : []).toEqual([])
  } finally {
    await daemon.stop()
  }
})

test('an export comes in through a pipe', async () => {
  using folder = tempFolder()
  const dataDir = join(folder.path, 'data')
  const daemon = await startDaemon({ dataDir, port: 0, socket: join(dataDir, 's'), recognised: [], log: silent })
  try {
    const shell = { env: { M4A_DATA_DIR: dataDir }, cwd: folder.path, now: Date.now }
    await sh(['send', 'operator', 'hello'], shell)
    const { out } = await sh(['export'], shell)
    const ran = await sh(['import', '-', '--json'], { ...shell, stdin: out })
    expect(JSON.parse(ran.out)).toMatchObject({ added: 0, known: 1 })
    const refused = await sh(['import', '-'], { ...shell, stdin: 'no export' })
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('the standard input is no export') })
  } finally {
    await daemon.stop()
  }
})

test('only a path of the command line is a person’s; any other is a fault of ours', () => {
  const fault = (path: string) =>
    Object.assign(new Error('EIO: i/o error, open'), { code: 'EIO', syscall: 'open', path })
  expect(aboutGiven(fault('/a/b.1.new'), ['x', '/a/b'], '/')?.message).toBe('"/a/b.1.new": i/o error')
  expect(aboutGiven(fault('/a'), ['x', '--out=/a/b'], '/')?.kind).toBe('usage')
  expect(aboutGiven(fault('/c'), ['x', '/a/b'], '/')).toBe(null)
  expect(aboutGiven(new TypeError('no'), ['x'], '/')).toBe(null)
})
