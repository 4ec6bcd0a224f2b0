// Each agent client: is our entry in its configuration as we wrote it, and does what the entry names really answer.
import { existsSync } from 'node:fs'
import { Refusal } from '../../wire/refusal.ts'
import { applyFile } from '../apply.ts'
import { CLIENT_NAMES } from '../client.ts'
import { look as readFile, textOf } from '../files.ts'
import type { Us } from '../machine.ts'
import { type ClientPlan, planClients } from '../plan.ts'
import { type Answer, askBridge } from './bridge.ts'
import type { Checkup } from './checkup.ts'
import { type Found, fail, fine, reasonOf, warn } from './finding.ts'
import { isAgent } from './readers.ts'

const BRIDGE_MS = 10_000
/** All of them at once on a slow machine. */
export const CLIENTS_MS = 30_000

export async function clients(checkup: Checkup): Promise<Found[]> {
  const seen = await lastSeen(checkup)
  const all = planClients(checkup.machine, checkup.us, CLIENT_NAMES)
  const found = await Promise.all(all.map((plan) => client(checkup, plan, seen)))
  const shown = found.flatMap((one) => one ?? [])
  return shown.length > 0 ? shown : [fine('no agent client is on this machine', { known: CLIENT_NAMES })]
}

/** Null: it is not here, and nothing of ours is in it. */
async function client(checkup: Checkup, plan: ClientPlan, seen: Seen): Promise<Found | null> {
  const { name, title } = plan.client
  const files = recorded(checkup, name)
  if (plan.found === null && files.length === 0) return null
  const about = (found: Found): Found => ({ ...found, of: name, facts: { client: name, title, files, ...found.facts } })
  try {
    return about(await look(checkup, plan, files, seen))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return about(fail(error.message, error.hint, { ...error.toJSON() }))
  }
}

async function look(checkup: Checkup, plan: ClientPlan, files: readonly string[], seen: Seen): Promise<Found> {
  const { name, title } = plan.client
  if (plan.refusal !== null) {
    const { message, hint, facts } = plan.refusal
    // in a file that holds nothing of ours it only keeps us from being set up
    return (files.length > 0 ? fail : warn)(message, hint, facts)
  }
  const words = serverOf(plan, checkup)
  const add = `${checkup.call} client add ${name}`
  if (words === null && files.length === 0) {
    const facts = { found: plan.found, set_up: false }
    return fine(`${title} is here, the mailbox is not set up in it; ${add} does that`, facts)
  }
  const entry = checkEntry(checkup, plan, words, files.length > 0)
  if (entry !== null && entry.level === 'fail') return entry
  const answer = await ask(checkup, name, words ?? [])
  const last = seen.get(name) ?? null
  const facts = { command: words, answer: answer.level === 'ok' ? answer.facts : null, last_seen: last }
  if (answer.level !== 'ok') return { ...answer, facts: { ...facts, ...answer.facts } }
  if (entry !== null) return { ...entry, facts: { ...facts, ...entry.facts } }
  const since = last === null ? '' : last.live ? '; its agent runs' : `; its agent was last seen ${last.at}`
  return fine(`${title}: the entry is in place, and ${answer.what}${since}`, facts)
}

/** What is wrong with what stands in its files; null: nothing is. */
function checkEntry(checkup: Checkup, plan: ClientPlan, words: string[] | null, ours: boolean): Found | null {
  const { name } = plan.client
  const add = `${checkup.call} client add ${name}`
  const paths = plan.changes.map(({ file }) => file.path)
  const put = () => {
    const record = checkup.record()
    return plan.changes.map(({ part, file }) => {
      applyFile(record, name, part, file)
      return `put our entry into ${file.path} again`
    })
  }
  const fix = ours && checkup.token(name) !== null ? put : undefined
  if (words === null) return fail(`our entry is gone from ${paths.join(' and ')}`, add, { paths }, fix)
  const [program = ''] = words
  if (!existsSync(program))
    return fail(`the entry names ${program}, which does not exist`, add, { program, paths }, fix)
  if (plan.changes.length === 0) return null
  // the same entry as another mail4agent wrote it is in order
  const theirs = usIn(words, name)
  const [again] = theirs === null ? [] : planClients(checkup.machine, theirs, [name])
  if (theirs !== null && again?.refusal === null && again.changes.length === 0 && program !== checkup.us.program[0])
    return warn(`the entry names another program, ${program}`, add, { program, us: checkup.us.program })
  return fail(`our entry in ${paths.join(' and ')} was changed`, add, { paths }, fix)
}

/** The program and the place that a command line of the bridge names. */
function usIn(words: readonly string[], account: string): Us | null {
  const at = words.indexOf('mcp')
  if (at < 1 || words[at + 1] !== '--as' || words[at + 2] !== account) return null
  return { program: words.slice(0, at), place: words.slice(at + 3) }
}

/** The command line of our server in the client's files as they are; null where there is none. */
function serverOf({ client }: ClientPlan, { machine, us }: Checkup): string[] | null {
  for (const file of client.files(machine, us)) {
    const words = file.words?.(textOf(readFile(file.path).bytes)) ?? null
    if (words !== null) return words
  }
  return null
}

/** Starts what the entry names, as the client would, and asks it. */
async function ask(checkup: Checkup, name: string, words: readonly string[]): Promise<Found> {
  const { call, machine } = checkup
  if (checkup.token(name) === null)
    return fail(`the token of ${name} is not here`, rotate(call, name), { account: name })
  const { health } = await checkup.presence()
  if (health === null) return fine('nobody was asked, as no mailbox answers', { asked: false })
  try {
    const answer: Answer = await askBridge(words, machine.env, BRIDGE_MS)
    return fine(`it answers as ${answer.account} with ${answer.tools} tools`, answer)
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'unauthenticated')
      return fail(`the mailbox does not take the token of ${name}: it was revoked or replaced`, rotate(call, name), {
        kind: error.kind,
      })
    if (error instanceof Refusal) return fail(`it is refused: ${error.message}`, error.hint, error.toJSON())
    return fail(`its command does not answer: ${reasonOf(error)}`, `look at it: ${words.join(' ')}`, {})
  }
}

const rotate = (call: string, name: string): string => `${call} admin account rotate ${name}`

/** When the agent of an account was last seen, RFC 3339, and whether it runs. */
type Seen = ReadonlyMap<string, { at: string; live: boolean }>

/** Of the last hour. */
async function lastSeen(checkup: Checkup): Promise<Seen> {
  const { health } = await checkup.presence()
  const readers = health === null ? null : await checkup.readers()
  if (readers === null || readers instanceof Refusal) return new Map()
  return new Map(
    readers.participants.flatMap(({ id, sessions }) => {
      const agents = sessions.filter(isAgent)
      const [first] = agents.toSorted((a, b) => b.last_seen_unix_ms - a.last_seen_unix_ms)
      return first ? [[id, { at: first.last_seen, live: agents.some(({ live }) => live) }] as const] : []
    }),
  )
}

function recorded(checkup: Checkup, name: string): string[] {
  return checkup.record().files.flatMap((file) => (file.client === name ? [file.path] : []))
}
