// The environment of a started agent: only what is on a list, nothing of whoever called, and who it is in this run.

/** What a program needs to run as the user of this machine. A star at the end stands for any ending. */
const USUAL = [
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'LC_*',
  'TZ',
  'TMPDIR',
  'XDG_*',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'all_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'SSH_AUTH_SOCK',
]

type Env = Readonly<Record<string, string | undefined>>

const isListed = (name: string, list: readonly string[]): boolean =>
  list.some((entry) => (entry.endsWith('*') ? name.startsWith(entry.slice(0, -1)) : name === entry))

/**
 * `own`: the environment of the mailbox. `provider`: names that its client takes; `profile`: names that the operator added.
 * `dirs` are put in front of the PATH. `set` wins over all.
 */
export function environmentOf(
  own: Env,
  lists: { provider: readonly string[]; profile: readonly string[] },
  dirs: readonly string[],
  set: Readonly<Record<string, string>>,
): Record<string, string> {
  const list = [...USUAL, ...lists.provider, ...lists.profile]
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(own))
    if (value !== undefined && !name.startsWith('M4A_') && isListed(name, list)) kept[name] = value
  const path = [...dirs, ...(own.PATH ?? '/usr/local/bin:/usr/bin:/bin').split(':')]
  return { ...kept, PATH: [...new Set(path)].join(':'), TERM: 'dumb', ...set }
}

const SECRET = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|AUTH/i

/** Values of an environment that are secrets by their name. */
export const secretsIn = (env: Env): string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= 8 && SECRET.test(name) && !name.endsWith('_FILE') && !value.startsWith('/')
      ? [value]
      : [],
  )
