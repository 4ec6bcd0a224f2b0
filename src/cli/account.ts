// Which account a command acts for, and with which token. All of it only finds a token: what it may do, the mailbox decides.
import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { canonical, isName } from '../wire/ids.ts'
import { Refusal } from '../wire/refusal.ts'
import { defaultAccount, defaultAccountPath } from './default-account.ts'
import type { Io } from './io.ts'
import { OPERATOR, readToken, storedTokenFile, tokenNames } from './token-files.ts'
import { usage } from './usage.ts'

export type Asked = { as: string | undefined; dataDir: string; io: Io }

/** The name of the agent client above us, in the order of nearness; asked only where a token could be named after it. */
export type AgentAbove = () => Promise<string | null>

/** A token, and where it was found: for a person who wonders as whom a command acts. */
export type FoundToken = {
  token: string
  source: string
  /** The account whose stored token it is, and its file; null where the environment holds it. */
  account: string | null
  path: string | null
}

/**
 * `--as`, `M4A_TOKEN_FILE`, `M4A_TOKEN`, `M4A_ACCOUNT`, the agent above the caller, the nearest `.mail4agent` file, the
 * `default-account` of the data folder, the only token there is.
 * @throws Refusal `which_account` with the candidates, `bad_permissions`
 */
export async function findToken({ as, dataDir, io }: Asked, agentAbove: AgentAbove): Promise<FoundToken> {
  const { M4A_TOKEN_FILE, M4A_ACCOUNT } = io.env
  if (as) return namedToken(dataDir, as, '--as')
  if (M4A_TOKEN_FILE)
    return { token: tokenIn(M4A_TOKEN_FILE), source: 'M4A_TOKEN_FILE', account: null, path: M4A_TOKEN_FILE }
  if (io.token !== null) return { token: spoken(io.token), source: 'M4A_TOKEN', account: null, path: null }
  if (M4A_ACCOUNT) return namedToken(dataDir, M4A_ACCOUNT, 'M4A_ACCOUNT')
  const names = tokenNames(dataDir)
  const agent = names.length === 0 ? null : await agentAbove()
  const owned = agent === null ? undefined : names.find((name) => canonical(name) === canonical(agent))
  if (owned !== undefined) return namedToken(dataDir, owned, 'the agent above')
  const mapped = folderAccount(io.cwd)
  if (mapped !== null) return namedToken(dataDir, mapped.name, mapped.path)
  // an agent that has no account of its own is not its person
  const usual = agent === null ? defaultAccount(dataDir) : null
  if (usual !== null) return namedToken(dataDir, usual, defaultAccountPath(dataDir))
  const [only, ...more] = names
  if (only !== undefined && more.length === 0) return namedToken(dataDir, only, 'the only one')
  throw whichAccount(
    names.length === 0
      ? `no account has its token in ${join(dataDir, 'tokens')}`
      : 'several accounts have their token here',
    names,
  )
}

/** For what only an operator may do: as above where something is named, else the account of the first start. */
export async function findOperatorToken(asked: Asked, agentAbove: AgentAbove): Promise<FoundToken> {
  const { env, token } = asked.io
  const isNamed = asked.as || env.M4A_TOKEN_FILE || token !== null || env.M4A_ACCOUNT
  const key = isNamed ? null : storedTokenFile(asked.dataDir, OPERATOR)
  if (key === null) return findToken(asked, agentAbove)
  return { ...key, source: 'the key of the first start', account: OPERATOR }
}

/** A header holds visible ASCII alone: RFC 6750, section 2.1. */
function spoken(token: string): string {
  if (!/^[\x21-\x7e]+$/.test(token))
    throw usage('M4A_TOKEN holds no token', 'it must be the token alone, without spaces')
  return token
}

function namedToken(dataDir: string, given: string, source: string): FoundToken {
  const name = given.startsWith('@') ? given.slice(1) : given
  if (!isName(name)) throw usage(`${source} names no account: ${JSON.stringify(name.slice(0, 100))}`)
  const found = storedTokenFile(dataDir, name)
  if (found !== null) return { ...found, source, account: name }
  throw whichAccount(`${source} says ${name}, which has no token in ${join(dataDir, 'tokens')}`, tokenNames(dataDir))
}

function tokenIn(path: string): string {
  const token = readToken(path)
  if (token !== null) return token
  throw new Refusal(
    'which_account',
    'the file that M4A_TOKEN_FILE names does not exist',
    { path },
    'correct M4A_TOKEN_FILE, or choose with --as <account>',
  )
}

const whichAccount = (message: string, candidates: string[]): Refusal =>
  new Refusal(
    'which_account',
    message,
    { candidates },
    candidates.length === 0
      ? 'make an account and its token: mail4agent admin account add <name>; or name a token with M4A_TOKEN_FILE'
      : 'choose with --as <account>, M4A_ACCOUNT or M4A_TOKEN_FILE; for a folder and all below it: a file .mail4agent with the name',
  )

/** The account named by the nearest `.mail4agent` file, from `folder` upwards. */
export function folderAccount(folder: string): { name: string; path: string } | null {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, '.mail4agent')
    const name = firstLine(path)
    if (name !== null) return { name, path }
    if (dirname(at) === at) return null
  }
}

function firstLine(path: string): string | null {
  try {
    if (!statSync(path).isFile()) return null
    return readFileSync(path, 'utf8').slice(0, 4096).split('\n')[0]?.trim() || null
  } catch {
    return null
  }
}
