// Words in the files of service managers: whatever is in a path comes out again as the manager takes it apart.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { commandLine, quote, quoteWord, systemUnit, userUnit } from '../../../src/install/service/systemd-unit.ts'
import { windowsWord } from '../../../src/install/service/task.ts'
import { serveWords, serviceName } from '../../../src/install/service/words.ts'
import { serviceStep } from '../../../src/install/service-choice.ts'
import type { ServiceTarget } from '../../../src/install/service-step.ts'

const target = (more: Partial<ServiceTarget> = {}): ServiceTarget => ({
  us: { program: ['/opt/mail4agent'], place: [] },
  dataDir: '/home/pat/.local/share/mail4agent',
  home: '/home/pat',
  env: {},
  port: null,
  socket: null,
  user: 'pat',
  ...more,
})

const words = fc.array(fc.string({ unit: fc.constantFrom(...'ab \\"\'$%{}=;\t/é-') }), { minLength: 1, maxLength: 5 })

/** systemd.syntax(7): words between white space, quotes around them, C escapes; then `%%` and `$$`. */
function systemdWords(line: string): string[] {
  const found: string[] = []
  for (let at = 0; at < line.length; ) {
    if (line[at] === ' ') at++
    else {
      let word = ''
      const quoted = line[at] === '"'
      if (quoted) at++
      for (; at < line.length && line[at] !== (quoted ? '"' : ' '); at++) {
        if (line[at] !== '\\') word += line[at]
        else word += { t: '\t', n: '\n' }[line[++at] ?? ''] ?? line[at]
      }
      found.push(word)
      at++
    }
  }
  return found
}

/** CommandLineToArgvW, for the words after the program. */
function windowsWords(line: string): string[] {
  const found: string[] = []
  let word: string | null = null
  let quoted = false
  for (let at = 0; at < line.length; at++) {
    const slashes = /^\\*/.exec(line.slice(at))?.[0].length ?? 0
    at += slashes
    if (line[at] === '"') {
      word = `${word ?? ''}${'\\'.repeat(Math.floor(slashes / 2))}`
      if (slashes % 2 === 1) word += '"'
      else quoted = !quoted
    } else {
      if (slashes > 0) word = `${word ?? ''}${'\\'.repeat(slashes)}`
      const one = line[at]
      if (one === undefined) break
      if (!quoted && /\s/.test(one)) {
        if (word !== null) found.push(word)
        word = null
      } else word = `${word ?? ''}${one}`
    }
  }
  return word === null ? found : [...found, word]
}

describe('a word stays one word', () => {
  test('of ExecStart= and Environment=', () => {
    fc.assert(
      fc.property(words, (given) => {
        const read = systemdWords(given.map(quoteWord).join(' ')).map((word) => word.replaceAll('%%', '%'))
        expect(read.map((word) => word.replaceAll('$$', '$'))).toEqual(given)
        expect(systemdWords(given.map(quote).join(' ')).map((word) => word.replaceAll('%%', '%'))).toEqual(given)
      }),
    )
    // a specifier, a variable, a comment: none is left
    expect(quoteWord('a%h$HOME')).toBe('a%%h$$HOME')
    expect(quoteWord('; rm')).toBe('"; rm"')
  })

  test('of a task of Windows', () => {
    fc.assert(fc.property(words, (given) => expect(windowsWords(given.map(windowsWord).join(' '))).toEqual(given)))
    expect(windowsWord('C:\\Program Files\\m\\')).toBe('"C:\\Program Files\\m\\\\"')
  })
})

test('a data folder of its own makes a service of its own; all is said in the words', () => {
  expect(serviceName(target())).toBe('mail4agent')
  const own = target({
    us: { program: ['/opt/mail4agent'], place: ['--data-dir', '/srv/m'] },
    dataDir: '/srv/m',
    port: 7,
  })
  expect(serviceName(own)).toMatch(/^mail4agent-[0-9a-f]{8}$/)
  expect(serveWords(own, 'systemd')).toEqual([
    '/opt/mail4agent',
    'serve',
    '--service',
    'systemd',
    '--data-dir',
    '/srv/m',
    '--port',
    '7',
  ])
})

test('units carry what the mailbox reads and no more of the environment', () => {
  const env = { PATH: '/bin', XDG_CONFIG_HOME: '/home/pat/my config', M4A_TOKEN: 'secret', SOME_KEY: 'secret' }
  const text = userUnit(target({ env }))
  expect(text).toContain('Environment=PATH=/bin\nEnvironment="XDG_CONFIG_HOME=/home/pat/my config"\n')
  expect(text).not.toContain('secret')
  expect(systemUnit(target({ env }))).not.toContain('Environment=')
})

test('each system shows its files and commands, also where it is not this one', () => {
  const shown = (platform: NodeJS.Platform, scope: 'user' | 'system' = 'user') =>
    (serviceStep({ platform }, scope)?.describe(target()) ?? []).map(({ what }) => what)
  expect(shown('linux')).toEqual([
    'writes /home/pat/.config/systemd/user/mail4agent.service',
    'systemctl --user daemon-reload',
    'systemctl --user enable --now mail4agent.service',
  ])
  expect(shown('linux', 'system').at(-1)).toBe('systemctl enable --now mail4agent@pat.service')
  expect(shown('darwin')[0]).toBe('writes /home/pat/Library/LaunchAgents/mail4agent.plist')
  expect(shown('darwin', 'system')[0]).toBe('writes /Library/LaunchDaemons/mail4agent.pat.plist')
  expect(shown('win32').slice(1)).toEqual([
    'schtasks.exe /Create /F /TN mail4agent /XML /home/pat/.local/share/mail4agent/service.xml',
    'schtasks.exe /Run /TN mail4agent',
  ])
  expect(serviceStep({ platform: 'freebsd' })).toBeNull()
})

test('a program with a path that systemd does not start is started by a shell; others are not', () => {
  expect(commandLine(['/opt/my dir/mail4agent', 'serve'])).toEqual(['"/opt/my dir/mail4agent"', 'serve'])
  for (const program of ["/o'neil/m", '/a"b/m', '/a$b/m', '/a\\b/m', '/a\nb/m']) {
    const words = ['/bin/sh', '-c', 'exec "$0" "$@"', program, 'serve']
    expect(systemdWords(commandLine([program, 'serve']).join(' ')).map((word) => word.replaceAll('$$', '$'))).toEqual(
      words,
    )
  }
})
