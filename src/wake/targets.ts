// Who can be woken for a mailbox: its live sessions, the one seen last first; else the one that could be gone on with; and the account.
import type { Attestor } from '../attest/attestor.ts'
import type { Mail } from '../engine/mail.ts'
import type { AccountRow, SessionRow } from '../store/rows.ts'
import type { WakeTarget } from './adapter.ts'

/** Variables that the doors of clients are found by. */
const NAMES = [
  'HOME',
  'XDG_CONFIG_HOME',
  'CLAUDE_CONFIG_DIR',
  'CODEX_HOME',
  'GROK_HOME',
  'GROK_LEADER_SOCKET',
  'KIMI_CODE_HOME',
  'QWEN_HOME',
  'OPENCODE_SERVER_USERNAME',
  'OPENCODE_SERVER_PASSWORD',
] as const

/** Sessions of an account that are looked at: more than that run nowhere. */
const MOST = 8
/** Ended ones that are looked through for one to go on with. */
const PAST = 50

export type Targets = { mail: Mail; attestor: Attestor; env: Readonly<Record<string, string | undefined>> }

/**
 * Those that may be woken for mail to `account`, or to `session` of it, in the order in which they are tried. `not`: the box
 * of the session that wrote, which is not woken by its own letter.
 */
export function targetsOf(
  { mail, attestor, env }: Targets,
  account: AccountRow,
  session: SessionRow | null,
  not: ReadonlySet<number>,
): WakeTarget[] {
  const isLive = (one: SessionRow) => one.ended === null && mail.alive(one)
  const live = mail.store.registry
    .sessionsOf(account.id, Number.MAX_SAFE_INTEGER)
    .filter((one) => isLive(one) && !not.has(one.box))
    .sort((a, b) => b.lastSeen - a.lastSeen)
  const chosen = session === null ? live.slice(0, MOST) : live.filter((one) => one.box === session.box)
  const past = chosen.length > 0 ? null : (session ?? lastOf(mail, account))
  const make = (one: SessionRow, alive: boolean): WakeTarget => {
    const { provider, provider_session_id, conversation, cwd } = one.corroborated
    const { pid, start } = one.instance
    return {
      account: account.name,
      session: one.name,
      row: one.id,
      provider,
      providerSession: provider_session_id,
      conversation: one.conversation ?? conversation,
      cwd,
      exe: one.attested.exe,
      process: alive ? { pid, start } : null,
      attended: live.length > 0,
      environment: alive ? attestor.environment(one.instance, NAMES) : ownEnvironment(env),
    }
  }
  return [
    ...chosen.map((one) => make(one, true)),
    ...(past ? [make(past, false)] : []),
    {
      account: account.name,
      session: null,
      row: 0,
      provider: chosen[0]?.corroborated.provider ?? past?.corroborated.provider ?? null,
      providerSession: null,
      conversation: null,
      cwd: null,
      exe: null,
      process: null,
      attended: live.length > 0,
      environment: ownEnvironment(env),
    },
  ]
}

/** What a process that is gone had is not known: that of the mailbox, which runs as the same user. */
function ownEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of NAMES) {
    const value = env[name]
    if (value !== undefined && !name.startsWith('OPENCODE_SERVER')) found[name] = value
  }
  return found
}

/** The session of the account that ended last and that its client could go on with. */
function lastOf(mail: Mail, account: AccountRow): SessionRow | null {
  const ended = mail.store
    .sessionsByPrefix(account.id, 's-', PAST)
    .filter((one) => one.ended !== null && one.successor === null && one.corroborated.provider_session_id !== null)
  return ended.sort((a, b) => b.lastSeen - a.lastSeen)[0] ?? null
}
