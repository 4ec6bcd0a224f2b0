// What would change: for each agent client on this machine its files, with the exact difference. Nothing is written here.
import { Refusal } from '../wire/refusal.ts'
import type { AgentClient, ClientFile, ClientName } from './client.ts'
import { AGENT_CLIENTS } from './clients/all.ts'
import { unifiedDiff } from './diff.ts'
import { Damaged, Taken } from './edit/damaged.ts'
import { look, textOf } from './files.ts'
import type { Machine, Us } from './machine.ts'

export type Change = {
  /** Place in the client's list of files. */
  part: number
  file: ClientFile
  kind: 'create' | 'edit'
  diff: string
}

export type ClientPlan = {
  client: AgentClient
  /** Why we think that it is here; null where it is not. */
  found: string | null
  /** The files that change; none when all is in place. */
  changes: Change[]
  notes: string[]
  /** Why this client is left alone: then nothing of it changes. */
  refusal: Refusal | null
}

/** The plan for the clients of `names`, found or not. */
export const planClients = (machine: Machine, us: Us, names: readonly ClientName[]): ClientPlan[] =>
  names.map((name) => planClient(machine, us, AGENT_CLIENTS[name]))

function planClient(machine: Machine, us: Us, client: AgentClient): ClientPlan {
  const plan: ClientPlan = { client, found: client.find(machine), changes: [], notes: [], refusal: null }
  try {
    for (const [part, file] of client.files(machine, us).entries()) {
      const bytes = readFor(file.path)
      if (bytes === null && file.onlyExisting !== undefined) {
        plan.notes.push(file.onlyExisting)
        continue
      }
      const { before, after } = edit(file, bytes)
      const diff = unifiedDiff(file.path, bytes === null ? null : before, after)
      if (diff !== '') plan.changes.push({ part, file, kind: bytes === null ? 'create' : 'edit', diff })
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { ...plan, changes: [], refusal: error }
  }
  if (client.note !== undefined) plan.notes.push(client.note)
  return plan
}

function readFor(path: string): Buffer | null {
  try {
    return look(path).bytes
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new Refusal('damaged_config', `${path} cannot be read (${code})`, { path }, 'make it readable to you')
  }
}

/**
 * The text of a file and what becomes of it.
 * @throws Refusal `damaged_config` naming file and line; the file stays as it is
 */
export function edit(file: ClientFile, bytes: Buffer | null): { before: string; after: string } {
  return explained(file.path, () => {
    const before = textOf(bytes)
    return { before, after: file.put(before) }
  })
}

/** The text of a file without our entries. @throws Refusal `damaged_config` */
export const stripped = (file: ClientFile, path: string, bytes: Buffer): string =>
  explained(path, () => file.drop(textOf(bytes)))

function explained<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof Damaged)
      throw new Refusal('damaged_config', `${path}, line ${error.line}: ${error.message}`, { path, line: error.line })
    if (error instanceof Taken)
      throw new Refusal(
        'damaged_config',
        `${path}: ${error.message}`,
        { path },
        'remove or rename that entry, or leave this client out with --only',
      )
    // readers of nested texts call themselves: the stack is their limit
    if (error instanceof RangeError)
      throw new Refusal('damaged_config', `${path}: it is nested too deeply`, { path }, 'correct the file')
    throw error
  }
}
