// The configuration file and the variable before it: which executables count as agents, and what the operator allows.
import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { configPath, recognisedFor, settingsFor } from '../../../src/cli/config.ts'
import { RECOGNISED_AGENTS } from '../../../src/identity/clients.ts'
import { DEFAULT_POLICY } from '../../../src/store/keeping/policy.ts'
import { Refusal } from '../../../src/wire/refusal.ts'
import { tempFolder } from '../../support/temp.ts'
import { io } from './shell.ts'

test('the variable, then the file, then our own list', () => {
  using folder = tempFolder()
  const world = (env: Record<string, string> = {}) => io({ home: folder.path, env }, [], [])
  expect(recognisedFor(world())).toEqual(RECOGNISED_AGENTS)
  const path = configPath(world())
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, 'recognised_agents = ["claude", "/opt/mine"]\n[other]\nkey = 1\n')
  expect(recognisedFor(world())).toEqual(['claude', '/opt/mine'])
  expect(recognisedFor(world({ M4A_RECOGNISED_AGENTS: 'codex, gemini' }))).toEqual(['codex', 'gemini'])
  expect(recognisedFor(world({ M4A_RECOGNISED_AGENTS: '' }))).toEqual([])
  writeFileSync(path, 'recognised_agents = []\n')
  expect(recognisedFor(world())).toEqual([])
  expect(recognisedFor(world({ XDG_CONFIG_HOME: '/nowhere' }))).toEqual(RECOGNISED_AGENTS)
})

test.each(['recognised_agents = "claude"', 'recognised_agents = [1]', 'recognised_agents = ['])(
  '%s is refused',
  (text) => {
    using folder = tempFolder()
    const world = io({ home: folder.path }, [], [])
    mkdirSync(dirname(configPath(world)), { recursive: true })
    writeFileSync(configPath(world), text)
    expect(() => recognisedFor(world)).toThrow(configPath(world))
  },
)

test('a pipe in its place is refused, not waited for', () => {
  using folder = tempFolder()
  const world = io({ home: folder.path }, [], [])
  mkdirSync(dirname(configPath(world)), { recursive: true })
  expect(Bun.spawnSync(['mkfifo', configPath(world)]).exitCode).toBe(0)
  expect(() => recognisedFor(world)).toThrow('cannot be read')
})

/** What `serve` makes of a configuration file. */
function settings(text: string, env: Record<string, string> = {}) {
  using folder = tempFolder()
  const world = io({ home: folder.path, env }, [], [])
  mkdirSync(dirname(configPath(world)), { recursive: true })
  writeFileSync(configPath(world), text)
  try {
    return settingsFor(world)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

test('what the operator allows is read from the file; without it nothing is allowed', () => {
  expect(settings('')).toEqual({
    recognised: RECOGNISED_AGENTS,
    allowForwarders: false,
    allowAgentsAsPersons: false,
    keep: DEFAULT_POLICY,
  })
  const text = 'recognised_agents = ["a"]\nallow_forwarders = true\nallow_agents_as_persons = true\n'
  expect(settings(text)).toMatchObject({ recognised: ['a'], allowForwarders: true, allowAgentsAsPersons: true })
  expect(settings('[keep]\nclosed_days = 30')).toMatchObject({ keep: { closedDays: 30, eventsDays: 30 } })
  expect(settings('[keep]\nevents_days = "forever"')).toMatchObject({ keep: { closedDays: 90, eventsDays: null } })
  expect(settings(text, { M4A_RECOGNISED_AGENTS: 'b' })).toMatchObject({ recognised: ['b'], allowForwarders: true })
  expect(settingsFor(io({}, [], []))).toMatchObject({ allowForwarders: false })
})

test.each([
  ['allow_forwarders = "yes"', 'allow_forwarders in'],
  ['allow_agents_as_persons = 1', 'allow_agents_as_persons in'],
  ['recognised_agents = "claude"', 'recognised_agents in'],
  ['allow_forwarder = true', 'allow_forwarder'],
  ['[allow_forwarders]\non = true', 'allow_forwarders in'],
  ['[other]\nkey = 1', 'other'],
  ['port = 1', 'port'],
  ['keep = 30', 'keep in'],
  ['[keep]\nclosed_days = 0', 'keep.closed_days in'],
  ['[keep]\nclosed_days = 29', 'keep.closed_days in'],
  ['[keep]\nevents_days = 30.5', 'keep.events_days in'],
  ['[keep]\nsent_days = 30', 'keep.sent_days'],
])('serve refuses %p by name', (text, name) => {
  for (const env of [{}, { M4A_RECOGNISED_AGENTS: '' }]) {
    const refusal = settings(text, env)
    if (!(refusal instanceof Refusal)) throw new Error('accepted')
    expect(refusal.kind).toBe('usage')
    expect(refusal.message).toContain(name)
  }
})

test('an unknown key is answered with those that there are', () => {
  expect(settings('port = 1')).toMatchObject({
    hint: 'there are recognised_agents, allow_forwarders, allow_agents_as_persons, homeserver_url, keep',
  })
})
