// Each client's files in the form of its own commands: put into nothing and into something, in place, and out again.
import { describe, expect, test } from 'bun:test'
import { parse } from 'jsonc-parser'
import { CLIENT_NAMES, type ClientName } from '../../../src/install/client.ts'
import { AGENT_CLIENTS } from '../../../src/install/clients/all.ts'
import { Taken } from '../../../src/install/edit/damaged.ts'
import type { Machine, Us } from '../../../src/install/machine.ts'

const machine = (over: Partial<Machine> = {}): Machine => ({
  env: {},
  home: '/home/pat',
  platform: 'linux',
  which: () => null,
  exists: () => false,
  ...over,
})
const US: Us = { program: ['/opt/mail4agent'], place: [] }
const files = (name: ClientName, over: Partial<Machine> = {}, us = US) => AGENT_CLIENTS[name].files(machine(over), us)
const paths = (name: ClientName, over: Partial<Machine> = {}) => files(name, over).map(({ path }) => path)
const bridge = (name: ClientName) => ({ command: '/opt/mail4agent', args: ['mcp', '--as', name] })
const made = (name: ClientName, part: number) => parse(files(name)[part]?.put('') ?? '')

describe.each(CLIENT_NAMES)('%s', (name) => {
  test('put twice is put once; taken out, nothing of ours is left', () => {
    for (const file of files(name)) {
      const once = file.put('')
      expect(once).toContain('mail4agent')
      expect(file.put(once)).toBe(once)
      const left = file.drop(once)
      expect(left).not.toContain('mail4agent')
      expect(file.isFrame(left)).toBe(true)
    }
  })

  test('of an earlier place it is mended, not doubled', () => {
    const before = files(name, {}, { program: ['/old/bin/mail4agent'], place: ['--data-dir', '/old data'] })
    for (const [part, file] of files(name).entries()) {
      const after = file.put(before[part]?.put('') ?? '')
      expect(after).not.toContain('/old')
      expect(after).toBe(file.put(''))
    }
  })

  test('is found by its program, else by its folder, else not', () => {
    const client = AGENT_CLIENTS[name]
    expect(client.find(machine())).toBeNull()
    expect(client.find(machine({ which: (program) => `/bin/${program}` }))).toStartWith('/bin/')
    expect(client.find(machine({ exists: () => true }))).toStartWith('/home/pat/')
  })

  test('no file of it holds anything secret: the bridge reads the token itself', () => {
    for (const file of files(name)) expect(file.put('')).not.toMatch(/bearer|authorization|token|secret/i)
  })
})

test('where the files are', () => {
  expect(paths('claude')).toEqual(['/home/pat/.claude.json', '/home/pat/.claude/settings.json'])
  expect(paths('claude', { env: { CLAUDE_CONFIG_DIR: '/c' } })).toEqual(['/c/.claude.json', '/c/settings.json'])
  expect(paths('codex', { env: { CODEX_HOME: '/x' } })).toEqual(['/x/config.toml', '/x/hooks.json'])
  expect(paths('opencode')[0]).toBe('/home/pat/.config/opencode/opencode.jsonc')
  const plain = (path: string) => path.endsWith('opencode.json')
  expect(paths('opencode', { exists: plain })[0]).toBe('/home/pat/.config/opencode/opencode.json')
  expect(paths('vscode', { platform: 'darwin' })).toEqual(['/home/pat/Library/Application Support/Code/User/mcp.json'])
})

test('the servers, as each client writes one itself', () => {
  expect(made('claude', 0)).toEqual({
    mcpServers: { mail4agent: { type: 'stdio', ...bridge('claude'), env: {}, alwaysLoad: true } },
  })
  expect(files('codex')[0]?.put('')).toBe(
    '[mcp_servers.mail4agent]\ncommand = "/opt/mail4agent"\nargs = ["mcp", "--as", "codex"]\n',
  )
  expect(made('gemini', 0).mcpServers).toEqual({ mail4agent: bridge('gemini') })
  expect(made('qwen', 0).mcpServers).toEqual({ mail4agent: { ...bridge('qwen'), alwaysLoadTools: true } })
  expect(made('opencode', 0)).toEqual({
    $schema: 'https://opencode.ai/config.json',
    mcp: { mail4agent: { type: 'local', command: ['/opt/mail4agent', 'mcp', '--as', 'opencode'] } },
  })
  expect(made('vscode', 0)).toEqual({ servers: { mail4agent: { type: 'stdio', ...bridge('vscode') } } })
  expect(made('copilot', 0)).toEqual({
    mcpServers: { mail4agent: { tools: ['*'], type: 'local', ...bridge('copilot') } },
  })
  for (const name of ['cursor', 'kimi'] as const)
    expect(made(name, 0)).toEqual({ mcpServers: { mail4agent: bridge(name) } })
})

test('hooks stand beside those of others', () => {
  const theirs = '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"}]}]}}'
  const after = files('claude')[1]?.put(theirs) ?? ''
  expect(parse(after).hooks.Stop).toMatchObject([
    { hooks: [{ command: 'a' }] },
    { hooks: [{ type: 'mcp_tool', server: 'mail4agent', tool: 'm4a_mail_hook' }] },
    { hooks: [{ type: 'command', command: '/opt/mail4agent hook claude-rewake', async: true, asyncRewake: true }] },
  ])
  expect(files('claude')[1]?.put(after)).toBe(after)
  expect(files('claude')[1]?.drop(after)).toBe(theirs)
  const mixed = after.replace(
    '{"type":"command","command":"a"}',
    '{"type":"command","command":"/opt/mail4agent hook claude"},{"command":"b"}',
  )
  expect(parse(files('claude')[1]?.drop(mixed) ?? '').hooks).toEqual({ Stop: [{ hooks: [{ command: 'b' }] }] })
})

test('words that a shell would read are quoted; a data folder of its own is named', () => {
  const us: Us = { program: ["/my tools/it's/mail4agent"], place: ['--data-dir', '/a b'] }
  const { hooks } = parse(files('gemini', {}, us)[0]?.put('') ?? '')
  expect(hooks.BeforeAgent[0].hooks[0].command).toBe("'/my tools/it'\\''s/mail4agent' hook gemini --data-dir '/a b'")
  const windows = parse(files('cursor', { platform: 'win32' }, us)[1]?.put('') ?? '')
  expect(windows.hooks.stop[0].command).toBe('"/my tools/it\'s/mail4agent" hook cursor stop --data-dir "/a b"')
})

test('a server or a file of that name that is not ours is not replaced', () => {
  expect(() => files('cursor')[0]?.put('{"mcpServers":{"mail4agent":{"command":"/bin/other"}}}')).toThrow(Taken)
  expect(() => files('opencode')[1]?.put('// somebody')).toThrow(Taken)
})

test('what somebody added to our server stays', () => {
  const text = '{"mcpServers":{"mail4agent":{"command":"/old/mail4agent","args":["mcp"],"trust":true}}}'
  expect(parse(files('gemini')[0]?.put(text) ?? '').mcpServers.mail4agent).toEqual({ ...bridge('gemini'), trust: true })
})
