// The configuration file: $XDG_CONFIG_HOME/mail4agent/config.toml. Environment before file, file before what we come with.
import { join } from 'node:path'
import { recognisedAgents } from '../identity/recognised.ts'
import { look } from '../install/files.ts'
import type { Policy } from '../store/keeping/policy.ts'
import { Refusal } from '../wire/refusal.ts'
import { keepIn } from './config-keep.ts'
import type { Io } from './io.ts'
import { absolute } from './place.ts'

export function configPath({ env, home, platform }: Io): string {
  if (platform === 'win32') return join(env.APPDATA || join(home, 'AppData', 'Roaming'), 'mail4agent', 'config.toml')
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'mail4agent', 'config.toml')
  return join(absolute(env.XDG_CONFIG_HOME) ?? join(home, '.config'), 'mail4agent', 'config.toml')
}

const KEYS = ['recognised_agents', 'allow_forwarders', 'allow_agents_as_persons', 'homeserver_url', 'keep'] as const
type Key = (typeof KEYS)[number]
type Config = { readonly [key: string]: unknown }

/** What the configuration says to the mailbox. */
export type Settings = {
  recognised: readonly string[]
  allowForwarders: boolean
  allowAgentsAsPersons: boolean
  keep: Policy
}

/**
 * All settings, for `serve`.
 * @throws Refusal `usage` naming the key that is unknown or of the wrong type: a wrong one must not pass for what was meant
 */
export function settingsFor(io: Io): Settings {
  const path = configPath(io)
  const config = readConfig(path)
  const unknown = Object.keys(config).find((key) => !KEYS.some((known) => known === key))
  if (unknown !== undefined)
    throw new Refusal(
      'usage',
      `${path} has an unknown key: ${unknown.slice(0, 100)}`,
      { key: unknown, known: KEYS },
      `there are ${KEYS.join(', ')}`,
    )
  const listed = agentsIn(config, path)
  return {
    recognised: io.env.M4A_RECOGNISED_AGENTS === undefined ? listed : recognisedFor(io),
    allowForwarders: switchIn(config, 'allow_forwarders', path),
    allowAgentsAsPersons: switchIn(config, 'allow_agents_as_persons', path),
    keep: keepIn(config.keep, path),
  }
}

/**
 * The executables that count as agent clients; an empty list is none.
 * @throws Refusal `usage` when the file cannot be understood: a list that is not read would take rights from nobody
 */
export function recognisedFor(io: Io): readonly string[] {
  const setting = io.env.M4A_RECOGNISED_AGENTS
  if (setting !== undefined) return recognisedAgents(setting)
  const path = configPath(io)
  return agentsIn(readConfig(path), path)
}

/**
 * The homeserver of this machine's link: the environment before the file; nothing where neither names one.
 * @throws Refusal `usage` when the file cannot be understood
 */
export function homeserverFor(io: Io): string | null {
  if (io.env.M4A_HOMESERVER_URL) return io.env.M4A_HOMESERVER_URL
  const path = configPath(io)
  const url = readConfig(path).homeserver_url
  if (url === undefined || typeof url === 'string') return url ?? null
  throw wrong('homeserver_url', path, 'text', 'homeserver_url = "https://matrix.example.org"')
}

function agentsIn(config: Config, path: string): readonly string[] {
  const listed = config.recognised_agents
  if (listed === undefined) return recognisedAgents(undefined)
  if (Array.isArray(listed) && listed.every((entry): entry is string => typeof entry === 'string')) return listed
  throw wrong('recognised_agents', path, 'list of texts', 'recognised_agents = ["claude", "codex"]')
}

function switchIn(config: Config, key: Key, path: string): boolean {
  const value = config[key] ?? false
  if (typeof value === 'boolean') return value
  throw wrong(key, path, 'switch', `${key} = true, or false`)
}

const wrong = (key: Key, path: string, what: string, right: string): Refusal =>
  new Refusal('usage', `${key} in ${path} is no ${what}`, { key }, `write: ${right}`)

function readConfig(path: string): Config {
  let text: string
  try {
    const { bytes } = look(path)
    if (bytes === null) return {}
    text = bytes.toString()
  } catch {
    throw new Refusal('usage', `${path} cannot be read`, {}, 'make it readable, or remove it')
  }
  try {
    return { ...Bun.TOML.parse(text) }
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : 'it is no TOML'
    throw new Refusal('usage', `${path}: ${why}`, {}, 'correct the file, or remove it')
  }
}
