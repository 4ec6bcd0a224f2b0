// Mailboxes of other machines in our store: each account there that mail came from or went to is an account of kind `remote`.
//
// Its box holds what was sent to it, so receipts, threads and answers need nothing of their own. No secret opens such an account,
// and its sessions have ended here from the beginning: no process of this machine is one of them.
import { addRemote } from '../../engine/link.ts'
import { type AccountRow, KIND, type Recipient, type SessionRow } from '../../store/rows.ts'
import type { Store } from '../../store/store.ts'
import { type Address, formatAddress, parseAddress } from '../../wire/address.ts'

/** `codex@desk`; of a room there `#build@desk`. Names of our own accounts have neither sign. */
export const remoteName = (participant: string, machine: string): string => `${participant}@${machine}`
export const machineOf = ({ name }: AccountRow): string => name.slice(name.indexOf('@') + 1)

export class Remotes {
  readonly #store
  readonly #making = new Map<string, Promise<AccountRow>>()

  constructor(store: Store) {
    this.#store = store
  }

  /** The account of that name, made where it is not there yet. `machine` as it is pinned. */
  async account(participant: string, machine: string): Promise<AccountRow> {
    const name = remoteName(participant, machine)
    const known = this.#store.registry.account(name)
    if (known) return known
    const key = name.toLowerCase()
    const making = this.#making.get(key) ?? addRemote(this.#store, name).finally(() => this.#making.delete(key))
    this.#making.set(key, making)
    return making
  }

  async session(account: AccountRow, name: string): Promise<SessionRow> {
    const known = this.#store.registry.session(account.id, name) ?? this.#store.sessionByName(account.id, name)
    if (known) return known
    const made = await this.#store.addSession({
      account: account.id,
      name,
      instance: { boot: '', pidns: '', pid: 0, start: '0', pidfd: null },
      conversation: null,
      attested: { pid: 0, started_at_unix_ms: 0, exe: null, uid: 0, spawned_by: null },
      corroborated: {
        provider: null,
        provider_session_id: null,
        conversation: null,
        model: null,
        cwd: null,
        sources: {},
      },
      predecessor: null,
    })
    await this.#store.endSession(made)
    return made
  }

  /** Makes what an address names, so that it can be written to. */
  async prepare(address: Address, machine: string): Promise<void> {
    if (address.kind === 'room') return void (await this.account(`#${address.room}`, machine))
    const account = await this.account(address.participant, machine)
    if (address.kind === 'session') await this.session(account, address.session)
  }

  /** Of a machine that is no peer any more: its names stay in old mail, a later peer of that name begins anew. */
  async remove(machine: string): Promise<void> {
    for (const account of this.of(machine)) await this.#store.removeAccount(account)
  }

  of(machine: string): AccountRow[] {
    const wanted = machine.toLowerCase()
    return this.#store.registry.remotes().filter((account) => machineOf(account).toLowerCase() === wanted)
  }
}

/** What a delivery is called on its own machine. */
export function targetOf(to: Recipient, account: AccountRow): string {
  if (account.name.startsWith('#')) return account.name.slice(0, account.name.indexOf('@'))
  const { machine: _, ...local } = parseAddress(to.kind === KIND.room ? account.name : to.text)
  return formatAddress(local)
}
