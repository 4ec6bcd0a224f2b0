// The configuration file: $XDG_CONFIG_HOME/mail4agent/config.toml. Environment before file, file before what we come with.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { recognisedAgents } from '../identity/recognised.ts'
import { Refusal } from '../wire/refusal.ts'
import type { Io } from './io.ts'
import { absolute } from './place.ts'

export function configPath({ env, home, platform }: Io): string {
  if (platform === 'win32') return join(env.APPDATA || join(home, 'AppData', 'Roaming'), 'mail4agent', 'config.toml')
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'mail4agent', 'config.toml')
  return join(absolute(env.XDG_CONFIG_HOME) ?? join(home, '.config'), 'mail4agent', 'config.toml')
}

/**
 * The executables that count as agent clients; an empty list is none.
 * @throws Refusal `usage` when the file cannot be understood: a list that is not read would take rights from nobody
 */
export function recognisedFor(io: Io): readonly string[] {
  const setting = io.env.M4A_RECOGNISED_AGENTS
  if (setting !== undefined) return recognisedAgents(setting)
  const path = configPath(io)
  const listed = readConfig(path).recognised_agents
  if (listed === undefined) return recognisedAgents(undefined)
  if (!Array.isArray(listed) || !listed.every((entry): entry is string => typeof entry === 'string'))
    throw new Refusal(
      'usage',
      `recognised_agents in ${path} is no list of texts`,
      {},
      'write: recognised_agents = ["claude", "codex"]',
    )
  return listed
}

function readConfig(path: string): { recognised_agents?: unknown } {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
    throw new Refusal('usage', `${path} cannot be read`, {}, 'make it readable, or remove it')
  }
  try {
    return Bun.TOML.parse(text)
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : 'it is no TOML'
    throw new Refusal('usage', `${path}: ${why}`, {}, 'correct the file, or remove it')
  }
}
