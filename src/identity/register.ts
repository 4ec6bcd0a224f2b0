// Registering a session at its first contact, and keeping its card true at the later ones. The declared group is the session's own.
import type { Attestor, Instance, Process } from '../attest/attestor.ts'
import { tooMany } from '../engine/turns.ts'
import type { AccountRow, SessionRow } from '../store/rows.ts'
import type { Store } from '../store/store.ts'
import type { Attested } from '../wire/card.ts'
import { LIMITS } from '../wire/limits.ts'
import { Refusal } from '../wire/refusal.ts'
import { cutFact } from '../wire/text.ts'
import { CLIENTS } from './clients.ts'
import { corroborate, type Said } from './corroborate.ts'
import type { Holder, Holders } from './holders.ts'
import type { Recognised } from './recognised.ts'
import { instanceKey, sessionName } from './session-id.ts'
import { type Log, predecessorOf } from './successor.ts'

export type Registrar = {
  store: Store
  attestor: Attestor
  holders: Holders
  recognise: (process: Process) => Recognised | null
  alive: (session: SessionRow) => boolean
  now: () => number
  log: Log
}

/** Who calls after the process that it belongs to has ended. */
export function anchorEnded(session: SessionRow | undefined, pid: number, anchor: Instance): Refusal {
  const seen = { pid, anchor_pid: anchor.pid, anchor_start: anchor.start }
  return session
    ? new Refusal('anchor_ended', `the session ${session.name} that this process belongs to has ended`, {
        session: session.name,
        seen,
      })
    : new Refusal('anchor_ended', 'the process that this one belongs to has ended', { seen })
}

/**
 * The session of `process` for that conversation (null: its own): registered, or found after a restart of the mailbox.
 * @throws Refusal `anchor_ended` when it is marked as ended already, `too_many`
 */
export async function register(
  registrar: Registrar,
  account: AccountRow,
  process: Process,
  conversation: string | null,
  said: Said,
): Promise<SessionRow> {
  const { store, attestor, holders } = registrar
  const holder = holders.of(process, account.id)
  const name = sessionName(instanceKey(process), conversation)
  const known = store.registry.session(account.id, name) ?? store.sessionByName(account.id, name)
  if (known !== null) {
    if (known.ended !== null) throw anchorEnded(known, process.pid, process)
    holder.add(known)
    refresh(registrar, holder, process, said)
    return known
  }
  if (store.registry.sessionsOf(account.id, Number.POSITIVE_INFINITY).length >= LIMITS.sessionsAccount)
    throw tooMany('live sessions', LIMITS.sessionsAccount)
  const words = heard(holder, said)
  const facts = corroborate(attestor, process, registrar.recognise(process), conversation, words)
  const predecessor = await predecessorOf(store, account, facts.proved, registrar.alive, registrar.log)
  const session = await store.addSession({
    account: account.id,
    name,
    instance: instanceKey(process),
    conversation,
    attested: attestedGroup(process, process.startedAtMs, spawner(registrar, process)),
    corroborated: facts.corroborated,
    predecessor: predecessor?.id ?? null,
  })
  holder.add(session)
  mark(registrar, holder, process)
  return session
}

/** Reads the facts of the process anew and puts them on its cards: after an exec, a change of folder, or a while. */
export function refresh(registrar: Registrar, holder: Holder, process: Process, said: Said): void {
  const { store, attestor } = registrar
  const recognised = registrar.recognise(process)
  const words = heard(holder, said)
  for (const session of holder.sessions()) {
    const { started_at_unix_ms, spawned_by } = session.attested
    session.attested = attestedGroup(process, started_at_unix_ms, spawned_by)
    session.corroborated = corroborate(attestor, process, recognised, session.conversation, words).corroborated
    store.touchSession(session)
  }
  mark(registrar, holder, process)
}

/** What is said now, or was before. */
function heard(holder: Holder, said: Said): Said {
  holder.client = said.client ?? holder.client
  return { client: holder.client }
}

function mark({ now, recognise }: Registrar, holder: Holder, process: Process): void {
  const records = CLIENTS.get(recognise(process)?.client ?? '')?.record !== undefined
  holder.read = { process, client: holder.client?.name ?? '', due: now() + (records ? RECORD_MS : FACTS_MS) }
}

/** Facts are read again when the process shows others, its client says another name, or they are this old (ms). */
const FACTS_MS = 10_000
/** Of a client that writes down which session it has: /clear gives a running Claude Code another one. */
const RECORD_MS = 1_000

export const isStale = ({ read }: Holder, process: Process, said: Said, now: number): boolean =>
  read.process !== process ||
  said.anew === true ||
  (said.client !== undefined && said.client.name !== read.client) ||
  now >= read.due

function attestedGroup(process: Process, started: number, spawnedBy: string | null): Attested {
  return {
    pid: process.pid,
    started_at_unix_ms: started,
    exe: cutFact(process.exe, LIMITS.fact),
    uid: process.uid,
    spawned_by: spawnedBy,
  }
}

/** The compact address of the nearest session among the ancestors. */
function spawner({ attestor, holders, store }: Registrar, process: Process): string | null {
  for (const ancestor of attestor.ancestors(process)) {
    const session = holders.anySession(ancestor)
    const account = session && store.registry.accountById(session.account)
    if (session && account) return `${account.name}/${session.name}`
  }
  return null
}
