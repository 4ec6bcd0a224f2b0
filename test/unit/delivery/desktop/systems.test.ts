// Each system's way to show a notification: its command or message, whatever the text; nothing of a text is ever script or markup.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { darwinCommand } from '../../../../src/delivery/desktop/darwin.ts'
import { In, Out } from '../../../../src/delivery/desktop/dbus/marshal.ts'
import { callBytes, firstMessage } from '../../../../src/delivery/desktop/dbus/message.ts'
import { busSocket, socketOf } from '../../../../src/delivery/desktop/dbus/session-bus.ts'
import { openDesktop } from '../../../../src/delivery/desktop/desktop.ts'
import { wordsOf } from '../../../../src/delivery/desktop/news.ts'
import { windowsCommand } from '../../../../src/delivery/desktop/windows.ts'

const HOSTILE = { title: `a" & $(calc) \`b\` '; quit`, body: '</text>\n"on run' }

test('macOS: always the same script, the text as arguments', () => {
  expect(darwinCommand(HOSTILE, { HOME: '/Users/pat', M4A_TOKEN: 'secret' })).toEqual({
    words: [
      '/usr/bin/osascript',
      '-e',
      'on run argv',
      '-e',
      'display notification (item 2 of argv) with title (item 1 of argv)',
      '-e',
      'end run',
      HOSTILE.title,
      HOSTILE.body,
    ],
    env: { PATH: '/usr/bin:/bin', HOME: '/Users/pat' },
  })
})

test('Windows: always the same script, the text in the environment', () => {
  const one = windowsCommand(HOSTILE, 'mail-12', { SystemRoot: 'D:\\Windows', M4A_TOKEN: 'secret', TEMP: 'T' })
  const other = windowsCommand({ title: 'x', body: 'y' }, 'mail-12', { SystemRoot: 'D:\\Windows' })
  expect(one.words).toEqual(other.words)
  expect(one.words.slice(0, -1)).toEqual([
    'D:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe',
    '-NoLogo',
    '-NoProfile',
    '-NonInteractive',
    '-WindowStyle',
    'Hidden',
    '-Command',
  ])
  expect(one.env).toMatchObject({ M4A_TITLE: HOSTILE.title, M4A_BODY: HOSTILE.body, M4A_KEY: 'mail-12' })
  expect(one.env).not.toHaveProperty('M4A_TOKEN')
  const script = one.words.at(-1) ?? ''
  expect(script).toContain('CreateTextNode($env:M4A_TITLE)')
  expect(script).not.toMatch(/["\n]/) // it is one argument of a command line, where quotes would end it
})

test('the words: senders are named up to three, and a name that could not be ours shows harmlessly', () => {
  const news = (senders: [string, number][]) => wordsOf({ kind: 'mail', account: 'pat', senders: new Map(senders) })
  expect(news([['codex', 1]])).toEqual({ title: 'mail4agent: 1 new letter for pat', body: '1 from codex' })
  expect(
    news([
      ['a', 2],
      ['b', 1],
      ['claude@desk', 1],
      ['d', 1],
      ['e', 5],
    ]),
  ).toEqual({
    title: 'mail4agent: 10 new letters for pat',
    body: '2 from a, 1 from b, 1 from claude@desk, 2 other senders',
  })
  expect(news([['\u001b[31m\u202e<b>', 1]]).body).toBe('1 from ??31m??b?')
  expect(wordsOf({ kind: 'test', account: 'pat' }).title).toContain('test')
})

test('where the session bus is', () => {
  expect(socketOf('unix:path=/run/user/1000/bus,guid=00')).toBe('/run/user/1000/bus')
  expect(socketOf('tcp:host=x,port=1;unix:guid=1,path=/a%20b')).toBe('/a b')
  expect(socketOf('unix:abstract=/tmp/dbus-x,guid=1')).toBe('\0/tmp/dbus-x')
  expect(socketOf('launchd:env=X')).toBeNull()
  expect(busSocket({ XDG_RUNTIME_DIR: '/run/user/7' })).toBe('/run/user/7/bus')
  expect(() => busSocket({ XDG_RUNTIME_DIR: 'relative' })).toThrow('no session bus')
  expect(() => busSocket({ DBUS_SESSION_BUS_ADDRESS: 'launchd:env=X' })).toThrow('of no kind')
})

test('a system without notifications says so', async () => {
  const failed = await openDesktop('aix', {})
    .show({ title: '', body: '' }, '')
    .catch((error) => error)
  expect(String(failed)).toContain('no notifications on aix')
})

test('what is written on the bus is read again, whole or in pieces, and never past its end', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), fc.array(fc.string()), (text, number, list) => {
      const out = new Out()
      out.byte(7)
      out.string(text)
      out.u32(number)
      out.array(4, () => {
        for (const one of list) out.string(one)
      })
      const read = new In(out.bytes())
      const plain = (one: string) => one.replaceAll('\0', '')
      expect([read.byte(), read.string(), read.u32(), read.strings()]).toEqual([
        7,
        plain(text),
        number,
        list.map(plain),
      ])
      const call = callBytes(3, { destination: 'a.b', path: '/a', interface: 'a.b', member: 'C' }, 's', out.bytes())
      for (let length = 0; length < call.length; length++) expect(firstMessage(call.subarray(0, length))).toBeNull()
      const whole = firstMessage(Buffer.concat([call, call]))
      expect(whole).toMatchObject({ length: call.length, message: { type: 1, replyTo: null, signature: 's' } })
    }),
    { numRuns: 30 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
      try {
        firstMessage(Buffer.from(noise))
      } catch (error) {
        expect(error).toBeInstanceOf(Error)
      }
    }),
  )
})
