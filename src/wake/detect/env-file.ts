// Files of settings: `KEY=VALUE` a line. They fill what the environment leaves unset, and hold no secrets.

/** Blank lines and comments are skipped, `export ` and surrounding quotes are dropped. */
export function parseEnvFile(text: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    const [, name, value = ''] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (name === undefined) continue
    const [, , inner] = /^(["'])(.*)\1$/.exec(value) ?? []
    found.set(name, inner ?? value)
  }
  return found
}

type Env = Readonly<Record<string, string | undefined>>

/** The environment, and behind it the file. */
export function filledFrom(env: Env, file: ReadonlyMap<string, string>): Env {
  const filled: Record<string, string | undefined> = { ...env }
  for (const [name, value] of file) if (!filled[name]) filled[name] = value
  return filled
}

/** What must not stand together, or not in an environment at all: it would be read by every child. Null: nothing. */
export function refusedIn(env: Env): string | null {
  if (env.M4A_ROUTINE_BEARER && !env.M4A_ROUTINE_URL) return 'M4A_ROUTINE_BEARER without M4A_ROUTINE_URL'
  for (const name of ['M4A_ROUTINE_URL', 'M4A_ROUTINE_BEARER', 'M4A_CLAUDE_ROUTINE_TOKEN', 'M4A_KIMI_SERVER_TOKEN'])
    if (env[name])
      return `${name}: an address or a key of a door belongs into the file of that account, not into an environment`
  if (env.M4A_AGENTS_DIR && env.M4A_SESSIONS_DIR)
    return 'M4A_AGENTS_DIR and M4A_SESSIONS_DIR: one host has one list of agents'
  return null
}
