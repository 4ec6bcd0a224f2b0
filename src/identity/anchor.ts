// Which process stands for a one-shot caller (a CLI, curl in a shell, a hook, a bridge): the walk up its ancestors.
import type { Process } from '../attest/attestor.ts'

/** What the walk asks of each process. */
export type Look = {
  /** Accounts that have a live session of this very process. */
  accounts(process: Process): ReadonlySet<number>
  isAgent(process: Process): boolean
}

/**
 * The process whose session a one-shot caller acts in, itself included.
 * `ancestors` are nearest first, as the kernel proved them. The first one that has a session, or is an agent client, ends
 * the walk: it is the anchor when the account is its own (or it has none yet), else the caller stands for itself, never
 * for an outer one. Without any: the leader of the caller's terminal session, else the caller.
 */
export function anchorOf(caller: Process, ancestors: readonly Process[], account: number, look: Look): Process {
  const leader = terminalLeader(caller, ancestors)
  for (const process of [caller, ...ancestors]) {
    const accounts = look.accounts(process)
    const agent = look.isAgent(process)
    if (process.uid !== caller.uid) {
      if (agent) return caller
      continue
    }
    if (accounts.has(account)) return process
    // a person may use several accounts from one terminal: its leader then has a session of each
    if (accounts.size > 0 && (agent || process !== leader)) return caller
    if (agent) return process
  }
  return leader ?? caller
}

/** The process that leads the caller's session and its terminal, if it still runs above the caller: credentials(7). */
function terminalLeader(caller: Process, ancestors: readonly Process[]): Process | null {
  if (caller.tty === 0) return null
  const leads = (process: Process) => process.pid === caller.sid && process.sid === process.pid
  return [caller, ...ancestors].find((process) => leads(process) && process.uid === caller.uid) ?? null
}
