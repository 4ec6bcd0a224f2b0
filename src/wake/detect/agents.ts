// Agents that a host runs, as its folders say: a folder for each with a profile, or a record for each; with aliases and a list of those left alone.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { namesIn, readOwn, readRecord, textOf } from '../files.ts'
import { freeNick, nickFromDisplayName } from './nick.ts'

/** `session`: the id of its mailbox; that of the folder unless an alias says another. */
export type HostedAgent = { agent: string; session: string; displayName: string; nick: string }

const ID = /^[A-Za-z0-9._-]{1,128}$/
const isId = (text: string): boolean => ID.test(text) && !text.startsWith('legacy-user-')

/** Each folder whose `profile.json` has a name; hidden ones and those without are none. */
export function agentsIn(
  folder: string,
  { aliases, skip }: { aliases: ReadonlyMap<string, string>; skip: ReadonlySet<string> },
): HostedAgent[] {
  const found: HostedAgent[] = []
  const taken = new Set<string>()
  for (const agent of namesIn(folder).sort()) {
    if (agent.startsWith('.') || !isId(agent)) continue
    if (statSync(join(folder, agent), { throwIfNoEntry: false })?.isDirectory() !== true) continue
    const displayName = textOf(readRecord(join(folder, agent, 'profile.json'))?.name)
    const nick = displayName === null ? null : nickFromDisplayName(displayName)
    if (displayName === null || nick === null || skip.has(nick)) continue
    const own = freeNick(nick, taken)
    taken.add(own)
    found.push({ agent, session: aliases.get(agent) ?? agent, displayName, nick: own })
  }
  return found
}

/** What a record may hold; anything else, such as an address or a key, must not ride along where everybody may read. */
const SessionRecord = Type.Object(
  {
    bot_name: Type.String({ minLength: 1 }),
    session_id: Type.String({ minLength: 1, maxLength: 128 }),
    agent_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  },
  { additionalProperties: false },
)

/** `*.json` of a folder. Throws `DamagedRecord` for one that is none, holds more, or names what another names already. */
export function sessionRecordsIn(folder: string): HostedAgent[] {
  const found: HostedAgent[] = []
  for (const name of namesIn(folder)
    .filter((file) => file.endsWith('.json') && !file.startsWith('.'))
    .sort()) {
    const record: unknown = readRecord(join(folder, name))
    if (!Value.Check(SessionRecord, record)) throw new DamagedRecord(name)
    const nick = nickFromDisplayName(record.bot_name)
    if (nick === null || !isId(record.session_id)) throw new DamagedRecord(name)
    if (found.some((one) => one.nick === nick || one.session === record.session_id)) throw new DamagedRecord(name)
    const agent = record.agent_id ?? record.session_id
    found.push({ agent, session: record.session_id, displayName: record.bot_name, nick })
  }
  return found
}

/** The file, and nothing of what stands in it. */
export class DamagedRecord extends Error {
  constructor(readonly file: string) {
    super(`${file} is no record of a session`)
  }
}

/** `agent=session,…`; what is no pair is left out. */
export function aliasesIn(text: string | undefined): Map<string, string> {
  const pairs = (text ?? '').split(',').map((pair) => pair.split('=').map((side) => side.trim()))
  return new Map(
    pairs.flatMap(([agent = '', session = '', ...more]) =>
      isId(agent) && isId(session) && more.length === 0 ? [[agent, session] as const] : [],
    ),
  )
}

export const skipIn = (text: string | undefined): Set<string> =>
  new Set(
    (text ?? '')
      .split(',')
      .map((nick) => nick.trim())
      .filter(Boolean),
  )

export type IndexedSession = { sessionId: string; pid: number | null; cwd: string | null }

/** An index of running sessions: nothing is none, what is no list of sessions is damaged. Throws `DamagedRecord`. */
export function sessionsInIndex(text: string): IndexedSession[] {
  if (text.trim() === '') return []
  let rows: unknown
  try {
    rows = JSON.parse(text)
  } catch {
    throw new DamagedRecord('the index')
  }
  if (!Array.isArray(rows)) throw new DamagedRecord('the index')
  return rows.map((row: unknown) => {
    const { session_id, pid, cwd } =
      typeof row === 'object' && row !== null ? ({ ...row } as Record<string, unknown>) : {}
    const sessionId = textOf(session_id)
    if (sessionId === null) throw new DamagedRecord('the index')
    return { sessionId, pid: typeof pid === 'number' ? pid : null, cwd: textOf(cwd) }
  })
}

/** As `sessionsInIndex`; a file that is not there is empty. */
export const indexAt = (path: string): IndexedSession[] => sessionsInIndex(readOwn(path) ?? '')

/** The one whose folder that is. Throws `DamagedRecord` where two are. */
export function sessionAt(index: readonly IndexedSession[], cwd: string): IndexedSession | null {
  const here = index.filter((row) => row.cwd === cwd)
  if (here.length > 1) throw new DamagedRecord('the index')
  return here[0] ?? null
}
