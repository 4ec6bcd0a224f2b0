// The configuration file and the variable before it: which executables count as agents.
import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { configPath, recognisedFor } from '../../../src/cli/config.ts'
import { RECOGNISED_AGENTS } from '../../../src/identity/clients.ts'
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
