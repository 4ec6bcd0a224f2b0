// Who is calling: the token names the account, the kernel names the process, and here the two become a Caller.
//
// A caller that speaks MCP itself is its own session. Everything else is a one-shot caller: it acts in the session of the
// agent that it runs below (anchor.ts). What was decided at a process's first contact is kept for as long as it lives.
import type { Attested, Attestor, Process, Verdict } from '../attest/attestor.ts'
import type { Caller } from '../engine/mail.ts'
import type { AccountRow, SessionRow } from '../store/rows.ts'
import type { Store } from '../store/store.ts'
import { type Anchor, accountsAlready, anchorOf } from './anchor.ts'
import { unattested } from './attested.ts'
import { Callers, type Contact, heardFrom, Known } from './callers.ts'
import { impliedConversation, saidKey } from './conversation.ts'
import type { Said } from './corroborate.ts'
import { isVsCode } from './editors.ts'
import { explanation, type Trail } from './explain.ts'
import { forwarded, forwarderName } from './forwarders.ts'
import { type Holder, Holders, sameInstance } from './holders.ts'
import { Logins } from './logins.ts'
import { passing } from './look.ts'
import { agentAmong, refuseAgent } from './person.ts'
import { recogniser } from './recognised.ts'
import { anchorEnded, isStale, type Registrar, refresh, register } from './register.ts'
import type { Log } from './successor.ts'
import { sweepOnce } from './sweep.ts'
import { accountsOf } from './tokens.ts'

export type { Said } from './corroborate.ts'

export interface Identity {
  /**
   * The account of an Authorization header: of an account's token, or of a key of the page. No session is made.
   * @throws Refusal `unauthenticated`
   */
  account(authorization: string | null): AccountRow
  /** The logins of the web page. */
  readonly logins: Logins
  /**
   * A proved process introduces itself. What it calls itself is remembered for its later calls that do not say it. No session
   * is made: which conversation a call belongs to, and what the client has written down of itself, is told by its first call.
   * @throws Refusal those of attestation, `forwarder`, `agent_ancestor`
   */
  greet(account: AccountRow, verdict: Verdict, said: Said): void
  /**
   * The account and the session that a proved process acts in; registers the session at the first contact, refreshes it
   * later. `mcp`: the process speaks MCP itself, over TCP. At once for a known caller, else after the store has committed.
   * @throws Refusal those of attestation, `forwarder`, `agent_ancestor`, `anchor_ended`
   */
  caller(account: AccountRow, verdict: Verdict, said: Said, mcp: boolean): Caller | Promise<Caller>
  /**
   * Who calls, for a question that is to leave no trace: the session that it acts in, untouched, or where there is none yet, one
   * that is kept nowhere.
   * @throws Refusal as `greet`
   */
  look(account: AccountRow, verdict: Verdict): Caller
  /**
   * The accounts of which a proved process has a session already: its own, or that of the nearest process above that has one.
   * None are made, and no token is asked for. A recognised agent without a session ends the walk.
   * @throws Refusal those of attestation, `forwarder`
   */
  already(verdict: Verdict): AccountRow[]
  /** Does the very process behind a session still run? Asks the kernel. */
  alive(session: SessionRow): boolean
  /** Ends the sessions whose process is gone. Run it every two seconds; two at once are one. */
  sweep(): Promise<void>
}

export type IdentityOptions = {
  /** Executables of agent clients: `recognisedAgents()` reads the setting. */
  recognised: readonly string[]
  /** The operator allows forwarders: they are then sessions of their own. */
  allowForwarders?: boolean
  /** The operator allows agents to use the tokens of persons and operators. */
  allowAgentsAsPersons?: boolean
  now?: () => number
  log?: Log
}

/** What is known of one call before its session. */
type Call = Omit<Trail, 'session'>

function proved(verdict: Verdict): Attested {
  if (!verdict.ok) throw unattested(verdict)
  return verdict
}

export function openIdentity(store: Store, attestor: Attestor, options: IdentityOptions): Identity {
  const now = options.now ?? Date.now
  const recognise = recogniser(options.recognised)
  const holders = new Holders(store.registry)
  const callers = new Callers()
  for (const session of store.registry.liveSessions()) holders.of(session.instance, session.account).add(session)

  /** Learnt from the first process that is proved: before it, nobody has called. */
  let boot: string | null = null
  const alive = ({ instance }: SessionRow) => (boot === null || instance.boot === boot) && attestor.alive(instance)
  const registrar: Registrar = { store, attestor, holders, recognise, alive, now, log: options.log ?? (() => {}) }
  const pending = new Map<string, Promise<SessionRow>>()
  let sweeping: Promise<void> | null = null

  /** What is known of a process; looked at anew when its facts moved. */
  function knownOf(process: Process): Known {
    const found = callers.get(process)
    if (found) {
      if (found.process !== process) {
        found.process = process
        found.forwarder = forwarderName(process)
        found.agent ??= agentAmong(process, [], recognise)
      }
      return found
    }
    boot = process.boot
    const ancestors = attestor.ancestors(process)
    const known = new Known(
      process,
      forwarderName(process),
      agentAmong(process, ancestors, recognise),
      [process, ...ancestors].some(isVsCode),
    )
    callers.set(known)
    return known
  }

  /** A process that may speak for the account. Throws what `greet` throws. */
  function admitted(account: AccountRow, { process }: Attested): Known {
    const known = knownOf(process)
    if (known.forwarder !== null && !options.allowForwarders) throw forwarded(known.forwarder, known.process.pid)
    if (!options.allowAgentsAsPersons) refuseAgent(account, process, known.agent)
    return known
  }

  function contactOf(known: Known, account: AccountRow, mcp: boolean): Contact {
    const contacts = mcp ? known.own : known.anchored
    const found = contacts.get(account.id)
    if (found) return found
    const look = {
      accounts: (process: Process) => holders.accounts(process),
      isAgent: (process: Process) => recognise(process) !== null,
    }
    const caller = known.process
    const anchor: Anchor = mcp
      ? { process: caller, rule: 'speaks_mcp' }
      : anchorOf(caller, attestor.ancestors(caller), account.id, look)
    const contact = { holder: holders.of(anchor.process, account.id), rule: anchor.rule, keyless: null }
    contact.holder.process = anchor.process
    contacts.set(account.id, contact)
    return contact
  }

  /** One registration at a time for each session: the calls that arrive meanwhile wait for the same one. */
  function registered(holder: Holder, account: AccountRow, anchor: Process, key: string | null, said: Said) {
    const id = `${account.id} ${anchor.pid} ${anchor.start} ${anchor.pidfd} ${key ?? ''}`
    const running = pending.get(id)
    if (running) return running
    if (key !== null) holder.registering.add(key)
    const started = register(registrar, account, anchor, key, said).finally(() => {
      pending.delete(id)
      if (key !== null) holder.registering.delete(key)
    })
    pending.set(id, started)
    return started
  }

  async function firstContact(call: Call): Promise<Caller> {
    const { account, known, contact, said } = call
    const { holder } = contact
    const anchor = anchorNow(known, holder)
    const named = saidKey(said, holder)
    const key = named ?? impliedConversation(attestor, known.process, anchor, recognise(anchor), holder)
    const session = holder.session(key) ?? (await registered(holder, account, anchor, key, said))
    if (named === null) contact.keyless = session
    return seen(call, session)
  }

  /** The process that the caller acts for: itself, proved a moment ago, or another, which is asked whether it runs. */
  function anchorNow(known: Known, holder: Holder): Process {
    if (holder.process === null || sameInstance(holder.instance, known.process)) holder.process = known.process
    else if (!attestor.alive(holder.instance))
      throw anchorEnded(holder.sessions()[0], known.process.pid, holder.instance)
    return holder.process
  }

  /** A contact of a registered session. */
  function seen(call: Call, session: SessionRow): Caller {
    const { account, known, said } = call
    const { holder } = call.contact
    if (session.ended !== null) throw anchorEnded(session, known.process.pid, session.instance)
    const anchor = anchorNow(known, holder)
    const time = now()
    session.lastSeen = time
    if (isStale(holder, anchor, said, time)) refresh(registrar, holder, anchor, said)
    else store.touchSession(session)
    return { account, session, explain: () => explanation({ ...call, session }, registrar) }
  }

  const logins = new Logins(store.registry, now)
  const accountOf = accountsOf(store.registry)
  return {
    account: (authorization) =>
      logins.isKey(authorization) ? logins.account(authorization) : accountOf(authorization),
    logins,
    greet(account, verdict, { client }) {
      const known = admitted(account, proved(verdict))
      known.client = client ?? known.client
    },
    caller(account, verdict, words, mcp) {
      const attested = proved(verdict)
      const known = admitted(account, attested)
      const said = heardFrom(known, words)
      const contact = contactOf(known, account, mcp)
      const key = said.conversation === undefined ? null : saidKey(said, contact.holder)
      const session = key === null ? contact.keyless : contact.holder.session(key)
      const call = { account, known, contact, said, verdict: attested }
      return session ? seen(call, session) : firstContact(call)
    },
    look(account, verdict) {
      const known = admitted(account, proved(verdict))
      const { keyless, holder } = contactOf(known, account, false)
      const session = keyless ?? holder.own
      if (session !== null && session.ended === null) return { account, session, looks: true }
      return { account, session: passing(account, known.process, now()), looks: true }
    },
    already(verdict) {
      const { process, forwarder } = knownOf(proved(verdict).process)
      if (forwarder !== null && !options.allowForwarders) throw forwarded(forwarder, process.pid)
      const look = {
        accounts: (one: Process) => holders.accounts(one),
        isAgent: (one: Process) => recognise(one) !== null,
      }
      const ids = accountsAlready(process, attestor.ancestors(process), look)
      return ids.flatMap((id) => store.registry.accountById(id) ?? [])
    },
    alive,
    sweep() {
      sweeping ??= sweepOnce({ store, attestor, holders, callers, alive }).finally(() => {
        sweeping = null
      })
      return sweeping
    },
  }
}
