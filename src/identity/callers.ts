// The processes that have called: what was decided about each at its first contact, so that later calls only look it up.
import type { Instance, Process } from '../attest/attestor.ts'
import type { SessionRow } from '../store/rows.ts'
import type { AnchorRule } from './anchor.ts'
import type { Said } from './corroborate.ts'
import { type Holder, sameInstance } from './holders.ts'
import type { AgentAbove } from './person.ts'

/** Whose session a process acts in, for one account: fixed at the first contact. */
export type Contact = {
  /** The process that it acts for; itself where it stands for itself. */
  holder: Holder
  /** Why that one. */
  rule: AnchorRule
  /** The session of calls that name no conversation; null until there was one. */
  keyless: SessionRow | null
}

export class Known {
  /** account → contact, of one-shot calls and of calls by an MCP client itself */
  readonly anchored = new Map<number, Contact>()
  readonly own = new Map<number, Contact>()
  /** What it called itself when it introduced itself: an older MCP client says it then and never again. */
  client: Said['client']

  constructor(
    public process: Process,
    /** The forwarder that it is, or null. */
    public forwarder: string | null,
    /** The agent client that it is or runs below, or null. Once found it stays: a process cannot leave its ancestors. */
    public agent: AgentAbove | null,
    /** It is VS Code or runs below it, as a server does that VS Code starts. */
    readonly vscode: boolean,
  ) {}
}

/** What a process says, as far as it counts: an older client names itself once, and VS Code alone names its chats. */
export function heardFrom(known: Known, said: Said): Said {
  const client = said.client ?? known.client
  const conversation = said.conversation?.of === 'vscode' && !known.vscode ? undefined : said.conversation
  return client === said.client && conversation === said.conversation ? said : { ...said, client, conversation }
}

export class Callers {
  readonly #byPid = new Map<number, Known>()

  get(instance: Instance): Known | undefined {
    const known = this.#byPid.get(instance.pid)
    return known && sameInstance(known.process, instance) ? known : undefined
  }

  set(known: Known): void {
    this.#byPid.set(known.process.pid, known)
  }

  get size(): number {
    return this.#byPid.size
  }

  /** Forgets the processes for which `gone` holds. */
  prune(gone: (instance: Instance) => boolean): void {
    for (const [pid, known] of this.#byPid) if (gone(known.process)) this.#byPid.delete(pid)
  }
}
