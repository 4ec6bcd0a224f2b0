// Our MCP server in a client's TOML: the table `mcp_servers.mail4agent`, as `codex mcp add` writes it.
import { isDeepStrictEqual } from 'node:util'
import type { TomlTable, TomlValue } from 'smol-toml'
import { Damaged, Taken } from './damaged.ts'
import { appendTable, type Block, blocksOf, checkOnlyOurs, readToml, tableLines, withoutBlocks } from './toml.ts'

const SERVERS = 'mcp_servers'

type Server = { name: string; command: string; args: readonly string[]; isOurs: (words: readonly string[]) => boolean }

/** @throws Taken, Damaged */
export function putTomlServer(text: string, server: Server): string {
  const { name, command, args } = server
  const toml = readToml(text)
  const found = serverIn(toml.values, name)
  if (found === undefined) {
    const after = appendTable(toml, tableLines(`[${SERVERS}.${name}]`, { command, args }))
    return checked(text, after, name)
  }
  if (!server.isOurs(wordsOf(found))) throw new Taken(`${SERVERS}.${name} is another server`)
  if (isDeepStrictEqual(wordsOf(found), [command, ...args])) return text
  return checked(text, mended(text, server), name)
}

/** The table with our two lines as they should be; what else it holds stays. */
function mended(text: string, { name, command, args }: Server): string {
  const toml = readToml(text)
  const block = blocksOf(toml.lines).find(({ header }) => isHeader(header, name))
  if (!block) throw new Damaged(1, `${SERVERS}.${name} is not written as a table`)
  const cr = toml.eol === '\r\n' ? '\r' : ''
  const [, ...wanted] = tableLines('', { command, args }).map((line) => `${line}${cr}`)
  const kept = block.lines.filter((line) => !/^\s*(command|args)\s*=/.test(line))
  const lines = [...toml.lines]
  lines.splice(block.from + 1, block.to - block.from - 1, ...wanted, ...kept)
  return toml.mark + lines.join('\n')
}

/** Takes out the table and what lies below it, such as approvals of its tools. */
export function dropTomlServer(text: string, { name, isOurs }: Pick<Server, 'name' | 'isOurs'>): string {
  const toml = readToml(text)
  const found = serverIn(toml.values, name)
  if (found === undefined || !isOurs(wordsOf(found))) return text
  const ours = ({ header }: Block) => isHeader(header, name) || isBelow(header, name)
  const after = checked(text, withoutBlocks(toml, ours), name)
  if (serverIn(readToml(after).values, name) !== undefined)
    throw new Damaged(1, `${SERVERS}.${name} is not written as a table`)
  return after
}

/** The command line of the server; null where there is none. @throws Damaged */
export function tomlServerWords(text: string, name: string): string[] | null {
  const found = serverIn(readToml(text).values, name)
  return found === undefined ? null : wordsOf(found)
}

const spellings = (name: string): string[] => [`[${SERVERS}.${name}`, `[${SERVERS}."${name}"`, `[${SERVERS}.'${name}'`]
const isHeader = (header: string, name: string): boolean => spellings(name).some((one) => header === `${one}]`)
const isBelow = (header: string, name: string): boolean => spellings(name).some((one) => header.startsWith(`${one}.`))

function checked(before: string, after: string, name: string): string {
  checkOnlyOurs(before, after, (values) => {
    const servers = values[SERVERS]
    if (!isTable(servers)) return values
    delete servers[name]
    if (Object.keys(servers).length === 0) delete values[SERVERS]
    return values
  })
  return after
}

const isTable = (value: TomlValue | undefined): value is TomlTable =>
  typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date)

function serverIn(values: TomlTable, name: string): TomlValue | undefined {
  const servers = values[SERVERS]
  return isTable(servers) ? servers[name] : undefined
}

function wordsOf(value: TomlValue): string[] {
  if (!isTable(value)) return []
  return [value.command, value.args].flat().filter((word): word is string => typeof word === 'string')
}
