// Where a token may be sent: sockets behind links, and what is said of those that are not private.
import { expect, test } from 'bun:test'
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { checkSocket } from '../../../src/client/target.ts'
import { tempFolder } from '../../support/temp.ts'

const refused = (kind: string, hint: string) => expect.objectContaining({ kind, hint: expect.stringContaining(hint) })

test('a socket in a folder that a link leads to is ours; the folder must be closed to others', async () => {
  using folder = tempFolder()
  const real = join(folder.path, 'mail4agent')
  const link = join(folder.path, 'link')
  mkdirSync(real, { mode: 0o700 })
  symlinkSync(real, link)
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(join(real, 's'), resolve))
  try {
    checkSocket(join(real, 's'))
    checkSocket(join(link, 's'))
    chmodSync(real, 0o755)
    expect(() => checkSocket(join(real, 's'))).toThrow(refused('bad_permissions', `chmod 700 ${real}`))
    expect(() => checkSocket(join(link, 's'))).toThrow(refused('bad_permissions', '--socket'))
  } finally {
    server.close()
  }
})

test('nobody is told to close a folder that others live in', () => {
  for (const path of ['/dev/zero', '/dev/null'])
    expect(() => checkSocket(path)).toThrow(refused('bad_permissions', 'name the socket of your own mailbox'))
})
