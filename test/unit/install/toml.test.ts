// Edits of TOML: our tables come and go, every other line stays, and a form that does not fit is refused.
import { describe, expect, test } from 'bun:test'
import { parse } from 'smol-toml'
import { Damaged, Taken } from '../../../src/install/edit/damaged.ts'
import { dropTomlHooks, putTomlHooks } from '../../../src/install/edit/toml-hooks.ts'
import { dropTomlServer, putTomlServer } from '../../../src/install/edit/toml-server.ts'

const SERVER = {
  name: 'ours',
  command: '/opt/a "b"/m',
  args: ['mcp', '--as', 'x'],
  isOurs: (words: readonly string[]) => words[0]?.endsWith('/m') === true,
}
const put = (text: string) => putTomlServer(text, SERVER)
const drop = (text: string) => dropTomlServer(text, SERVER)

describe('put and taken out again, the text is the same', () => {
  test.each([
    ['nothing', ''],
    ['a table', 'a = 1\n\n[b]\nc = 2\n'],
    ['another server and comments', '# top\n[mcp_servers.o] # mine\ncommand = "x" # y\n\n# the end\n'],
    [
      'a text that looks like a table',
      'a = """\n[mcp_servers.ours]\ncommand = "/x/m"\n"""\n\n[[b]]\nc = [\n  "[d]",\n]\n',
    ],
    ['CRLF and a mark', '\uFEFFa = 1\r\n\r\n[b]\r\nc = 2\r\n'],
    ['large and odd numbers', 'a = 9223372036854775807\nb = nan\nc = 1979-05-27T07:32:00Z\n'],
  ])('%s', (_, text) => {
    const after = put(text)
    expect(parse(after.replace('\uFEFF', ''), { integersAsBigInt: 'asNeeded' })).toMatchObject({
      mcp_servers: { ours: { command: SERVER.command, args: SERVER.args } },
    })
    if (text.includes('\r\n')) expect(after.replaceAll('\r\n', '')).not.toContain('\n')
    expect(put(after)).toBe(after)
    expect(drop(after)).toBe(text)
  })
})

test('without a line feed at the end one is made', () => {
  expect(put('a = 1')).toStartWith('a = 1\n\n[mcp_servers.ours]\n')
})

test('an entry of ours with another path is mended; what somebody added to it stays', () => {
  const text = '[mcp_servers.ours]\ncommand = "/old/m"\nargs = ["mcp"]\nstartup_timeout_sec = 9 # mine\n\n[a]\nb = 1\n'
  expect(parse(put(text))).toEqual({
    mcp_servers: { ours: { command: SERVER.command, args: SERVER.args, startup_timeout_sec: 9 } },
    a: { b: 1 },
  })
  expect(put(text)).toContain('startup_timeout_sec = 9 # mine')
})

test('what lies below our table, such as approvals of its tools, goes with it', () => {
  const below = '[mcp_servers.ours.tools.send]\napproval_mode = "approve"\n'
  expect(drop(`a = 1\n\n[mcp_servers.ours]\ncommand = "/x/m"\n\n${below}\n# about b\n[b]\nc = 1\n`)).toBe(
    'a = 1\n\n# about b\n[b]\nc = 1\n',
  )
})

test.each([
  ['another program under our name', '[mcp_servers.ours]\ncommand = "/bin/other"\n', Taken],
  ['an inline table of servers', 'mcp_servers = { o = { command = "x" } }\n', Damaged],
  ['a text that is no TOML', 'a = 1\nb = \n', Damaged],
])('%s is left alone', (_, text, error) => {
  expect(() => put(text)).toThrow(error)
})

test('an entry of ours in a form that we never write is refused, not mangled', () => {
  expect(() => drop('mcp_servers.ours = { command = "/x/m" }\n')).toThrow(Damaged)
})

test('the line of a fault is named', () => {
  try {
    put('a = 1\nb = [\n"c"\nd = 2\n')
  } catch (error) {
    if (error instanceof Damaged) return expect(error.line).toBeGreaterThanOrEqual(2)
  }
  throw new Error('it was edited')
})

describe('hooks', () => {
  const form = { isOurs: (line: string) => line.includes('m hook') }
  const theirs = 'a = 1\n[[hooks]]\nevent = "Stop" # mine\ncommand = "x"\n'
  const wanted = { Prompt: '/opt/m hook kimi' }

  test('are put beside those of others and taken out again', () => {
    const after = putTomlHooks(theirs, wanted, form)
    expect(parse(after).hooks).toEqual([
      { event: 'Stop', command: 'x' },
      { event: 'Prompt', command: wanted.Prompt },
    ])
    expect(putTomlHooks(after, wanted, form)).toBe(after)
    expect(dropTomlHooks(after, form)).toBe(theirs)
    expect(parse(putTomlHooks(after, { Prompt: '/new/m hook kimi' }, form)).hooks).toHaveLength(2)
  })

  test('written as a list on one line they are refused', () => {
    expect(() => putTomlHooks('hooks = []\n', wanted, form)).toThrow(Damaged)
  })
})
