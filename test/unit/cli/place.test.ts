// Where the mailbox is: option before environment before what is usual on the system; how a client reaches it.
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { placeOf, routeTo } from '../../../src/cli/place.ts'
import { tempFolder } from '../../support/temp.ts'
import { io, type Shell } from './shell.ts'

const none = { 'data-dir': undefined, port: undefined, socket: undefined }
const place = (options: Partial<typeof none | Record<string, string>>, shell: Shell = {}) =>
  placeOf({ ...none, ...options }, io({ home: '/home/me', cwd: '/srv', ...shell }, [], []))

test.each([
  ['linux', {}, '/home/me/.local/share/mail4agent', '/home/me/.local/share/mail4agent/m4a.sock'],
  ['linux', { XDG_DATA_HOME: '/d', XDG_RUNTIME_DIR: '/run/me' }, '/d/mail4agent', '/run/me/mail4agent/m4a.sock'],
  [
    'linux',
    { XDG_DATA_HOME: 'relative', XDG_RUNTIME_DIR: '' },
    '/home/me/.local/share/mail4agent',
    '/home/me/.local/share/mail4agent/m4a.sock',
  ],
  [
    'darwin',
    {},
    '/home/me/Library/Application Support/mail4agent',
    '/home/me/Library/Application Support/mail4agent/m4a.sock',
  ],
] as const)('on %s with %p', (platform, env, dataDir, socket) => {
  expect(place({}, { platform, env })).toEqual({ dataDir, socket, port: null, socketGiven: false })
})

test('another data folder has its socket in it, whatever the runtime folder', () => {
  const env = { XDG_RUNTIME_DIR: '/run/me' }
  expect(place({ 'data-dir': 'x' }, { env })).toMatchObject({ dataDir: '/srv/x', socket: '/srv/x/m4a.sock' })
  expect(place({}, { env: { ...env, M4A_DATA_DIR: '/y' } })).toMatchObject({ dataDir: '/y', socket: '/y/m4a.sock' })
})

test('an option wins over the environment; an empty variable is none', () => {
  const env = { M4A_DATA_DIR: '/y', M4A_PORT: '7', M4A_SOCKET: '/s' }
  expect(place({ 'data-dir': '/z', port: '8', socket: 't' }, { env })).toEqual({
    dataDir: '/z',
    port: 8,
    socket: '/srv/t',
    socketGiven: true,
  })
  expect(place({}, { env: { M4A_PORT: '', M4A_SOCKET: '', M4A_DATA_DIR: '' } })).toMatchObject({
    port: null,
    socketGiven: false,
  })
})

test('what cannot be is refused', () => {
  expect(() => place({ port: '65536' })).toThrow('--port takes a whole number')
  expect(() => place({}, { env: { M4A_PORT: 'x' } })).toThrow('M4A_PORT takes a whole number')
  expect(() => place({ socket: `/${'x'.repeat(110)}` })).toThrow('too long')
})

test('there is no socket on Windows', () => {
  const found = place({}, { platform: 'win32', env: { LOCALAPPDATA: '/l' } })
  expect(found).toMatchObject({ dataDir: '/l/mail4agent', socket: null })
  expect(routeTo(found)).toEqual({ base: 'http://127.0.0.1:18301' })
})

test('a client goes where the daemon of the data folder wrote that it is', () => {
  using folder = tempFolder()
  const at = (options: Record<string, string>) => routeTo(place({ 'data-dir': folder.path, ...options }))
  expect(at({})).toEqual({ socket: join(folder.path, 'm4a.sock') })
  expect(at({ port: '9' })).toEqual({ base: 'http://127.0.0.1:9' })
  writeFileSync(join(folder.path, 'daemon.json'), JSON.stringify({ pid: 1, port: 9, socket: '/elsewhere/m4a.sock' }))
  expect(at({})).toEqual({ socket: '/elsewhere/m4a.sock' })
  expect(at({ port: '9' })).toEqual({ socket: '/elsewhere/m4a.sock' })
  expect(at({ port: '10' })).toEqual({ base: 'http://127.0.0.1:10' })
  expect(at({ socket: '/given' })).toEqual({ socket: '/given' })
  writeFileSync(join(folder.path, 'daemon.json'), '{"pid"')
  expect(at({})).toEqual({ socket: join(folder.path, 'm4a.sock') })
})
