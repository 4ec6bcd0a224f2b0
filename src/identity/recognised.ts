// Is a process an agent client? By its executable, by its script, or by the name that it was started under; never by free text.
import type { Process } from '../attest/attestor.ts'
import { CLIENTS, RECOGNISED_AGENTS } from './clients.ts'
import { inPackage, programName, scriptName, scriptOf, slashed } from './executable.ts'

export type Recognised = {
  /** The client: a name of the list. */
  client: string
  /**
   * `exe`: the file that the kernel runs is the client. `script`: its interpreter runs the client's script.
   * `name`: only what the process calls itself says so; that takes rights away and gives none.
   */
  by: 'exe' | 'script' | 'name'
}

/** The list that a setting names, separated by commas: unset is our own list, empty is none. */
export function recognisedAgents(setting: string | undefined): readonly string[] {
  if (setting === undefined) return RECOGNISED_AGENTS
  return setting
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

/** Programs that a client's executable is, too, when called by another name: not the agent, its parent is. */
const HELPERS = new Set([
  'codex-linux-sandbox',
  'codex-execve-wrapper',
  'apply_patch',
  'applypatch',
  'rg',
  'ugrep',
  'bfs',
])

/** Installers that put the version behind the name: `~/.grok/bin/grok-1.0.41`. */
const VERSION = /-[0-9]+(?:\.[0-9]+)+$/

/** Installers that keep each version as a file named after it: the folder tells the client. */
const VERSIONED = /\/([a-z-]+)\/versions\/[0-9][^/]*(?:\/node)?(?: \(deleted\))?$/

/**
 * A test for a list of executables: names such as `claude`, or absolute paths. An empty list recognises nothing.
 * The test is pure: it looks at exe, argv and comm alone.
 */
export function recogniser(list: readonly string[]): (process: Process) => Recognised | null {
  const isPath = (entry: string) => slashed(entry).includes('/')
  const names = new Set(list.filter((entry) => !isPath(entry)).map(programName))
  const paths = new Set(list.filter(isPath))
  if (names.size + paths.size === 0) return () => null
  return (process) => {
    if (HELPERS.has(programName(process.argv[0] ?? ''))) return null
    return byFile(process, names, paths) ?? byScript(process, names, paths) ?? byName(process, names)
  }
}

function byFile({ exe }: Process, names: ReadonlySet<string>, paths: ReadonlySet<string>): Recognised | null {
  if (exe === null) return null
  const name = programName(exe)
  if (names.has(name) || paths.has(exe)) return { client: name, by: 'exe' }
  if (names.has(name.replace(VERSION, ''))) return { client: name.replace(VERSION, ''), by: 'exe' }
  const folder = VERSIONED.exec(slashed(exe))?.[1]
  return folder !== undefined && names.has(folder) ? { client: folder, by: 'exe' } : null
}

function byScript(process: Process, names: ReadonlySet<string>, paths: ReadonlySet<string>): Recognised | null {
  const script = scriptOf(process)
  if (script === null) return null
  const name = scriptName(script)
  if (paths.has(script)) return { client: name, by: 'script' }
  for (const client of names)
    for (const known of CLIENTS.get(client)?.packages ?? [])
      if (inPackage(script, known)) return { client, by: 'script' }
  // the command that an installer puts on the PATH: `/usr/bin/gemini`, `node_modules/.bin/codex`
  return names.has(name) && programName(script) === name ? { client: name, by: 'script' } : null
}

function byName({ comm, argv }: Process, names: ReadonlySet<string>): Recognised | null {
  for (const name of [programName(comm), programName(argv[0] ?? '')]) {
    if (names.has(name)) return { client: name, by: 'name' }
    for (const client of names) if (CLIENTS.get(client)?.names?.includes(name)) return { client, by: 'name' }
  }
  return null
}
