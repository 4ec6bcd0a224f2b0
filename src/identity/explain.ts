// The evidence behind one caller, put together when somebody asks for it: what was proved, what was decided, and by which rule.
import type { Attested, Attestor, Process } from '../attest/attestor.ts'
import type { AccountRow, SessionRow } from '../store/rows.ts'
import type { Store } from '../store/store.ts'
import type { ExplainedProcess, Explanation } from '../wire/explain.ts'
import { LIMITS } from '../wire/limits.ts'
import { cutFact } from '../wire/text.ts'
import { ANCHOR_RULES } from './anchor.ts'
import type { Contact, Known } from './callers.ts'
import type { Said } from './corroborate.ts'
import type { Holders } from './holders.ts'
import type { Recognised } from './recognised.ts'

/** What one call was decided from. */
export type Trail = {
  account: AccountRow
  session: SessionRow
  verdict: Attested
  known: Known
  contact: Contact
  said: Said
}

export type Witness = {
  store: Store
  attestor: Attestor
  holders: Holders
  recognise: (process: Process) => Recognised | null
}

const PROOF: Readonly<Record<Attested['via'], string>> = {
  scan: 'all processes were searched, and one alone holds it',
  table: "the kernel's list of connections names one process, which was looked at",
  warm: 'one holder was proved at an earlier call, and it still holds it',
  unix: 'the process that connected was taken at accept, and it alone holds the other end',
}

/** Looks at the ancestors anew; everything else is as it was decided. */
export function explanation(trail: Trail, witness: Witness): Explanation {
  const { account, session, verdict, known, contact } = trail
  const { process } = verdict
  const shown = (one: Process) => explained(one, witness)
  const { instance, corroborated } = session
  return {
    connection: {
      over: verdict.via === 'unix' ? 'unix' : 'tcp',
      name: verdict.connection,
      proof: PROOF[verdict.via],
    },
    process: shown(process),
    ancestors: witness.attestor.ancestors(process).map(shown),
    forwarder: known.forwarder,
    anchor: {
      rule: contact.rule,
      because: ANCHOR_RULES[contact.rule],
      process: shown(contact.holder.process ?? process),
    },
    account: {
      id: account.name,
      token: 'the digest of the bearer token in the Authorization header is the one of this account',
    },
    session: {
      id: session.name,
      made_of: [
        { name: 'boot', value: instance.boot },
        { name: 'pid namespace', value: instance.pidns || null },
        { name: 'pid', value: String(instance.pid) },
        { name: 'start', value: instance.start },
        { name: 'pidfd', value: instance.pidfd },
        { name: 'conversation', value: session.conversation },
      ],
      conversation: chosenBy(trail),
    },
    facts: Object.entries(corroborated).flatMap(([name, value]) =>
      typeof value === 'string' ? [{ name, value, source: corroborated.sources[name] ?? 'unknown' }] : [],
    ),
  }
}

function chosenBy({ session, said }: Trail): string {
  if (session.conversation === null) return 'none: it is the session of the process itself'
  return said.conversation?.key === session.conversation
    ? 'the request names it, and narrows within this process alone'
    : 'the process has it, and the caller’s environment names it or there is no other'
}

function explained(process: Process, { store, holders, recognise }: Witness): ExplainedProcess {
  const recognised = recognise(process)
  const session = holders.anySession(process)
  const account = session && store.registry.accountById(session.account)
  return {
    pid: process.pid,
    started_at_unix_ms: process.startedAtMs,
    exe: cutFact(process.exe, LIMITS.fact),
    uid: process.uid,
    agent: recognised && `${recognised.client} (${recognised.by})`,
    session: session && account ? `${account.name}/${session.name}` : null,
  }
}
