// The writes of the registry as the engine sees them: accounts, rooms, members, listeners.
import { Refusal } from '../wire/refusal.ts'
import type { Queue } from './queue.ts'
import type { MemoryRegistry } from './registry.ts'
import type { AccountRow, RoomRow } from './rows.ts'
import type { AccountChange } from './store.ts'

export class RegistryWrites {
  readonly #queue: () => Queue
  readonly #registry: MemoryRegistry

  constructor(queue: () => Queue, registry: MemoryRegistry) {
    this.#queue = queue
    this.#registry = registry
  }

  addAccount(account: {
    name: string
    label: string | null
    kind: AccountRow['kind']
    can: AccountRow['can']
    digest: string
  }): Promise<AccountRow> {
    const created = Date.now()
    return this.#queue().submit(
      { k: 'addAccount', ...account, can: JSON.stringify(account.can), at: created },
      (row) => {
        if (!row)
          throw new Refusal('name_taken', `there is an account ${account.name} already`, { participant: account.name })
        const added = { ...account, id: row.id, box: row.box, created }
        this.#registry.putAccount(added)
        return added
      },
    )
  }

  changeAccount(account: AccountRow, change: AccountChange): Promise<AccountRow> {
    const { can, ...rest } = change
    const changed: AccountRow = { ...account, ...rest, can: { ...account.can, ...can } }
    const { id, label, kind, digest } = changed
    return this.#queue().submit(
      { k: 'changeAccount', id, label, kind, digest, can: JSON.stringify(changed.can) },
      () => {
        this.#registry.putAccount(changed)
        return changed
      },
    )
  }

  removeAccount(account: AccountRow): Promise<void> {
    return this.#queue().submit({ k: 'removeAccount', id: account.id, at: Date.now() }, () =>
      this.#registry.removeAccount(account),
    )
  }

  addRoom(name: string, label: string | null): Promise<RoomRow> {
    const created = Date.now()
    return this.#queue().submit({ k: 'addRoom', name, label, at: created }, (row) => {
      if (!row) throw new Refusal('name_taken', `there is a room ${name} already`, { room: name })
      const added = { id: row.id, name, label, created }
      this.#registry.putRoom(added)
      return added
    })
  }

  removeRoom(room: RoomRow): Promise<void> {
    return this.#queue().submit({ k: 'removeRoom', id: room.id, at: Date.now() }, () => this.#registry.removeRoom(room))
  }

  join(room: RoomRow, account: AccountRow): Promise<void> {
    return this.#queue().submit({ k: 'join', room: room.id, account: account.id, box: account.box }, () =>
      this.#registry.join(room.id, account.id),
    )
  }

  leave(room: RoomRow, account: AccountRow): Promise<void> {
    return this.#queue().submit({ k: 'leave', room: room.id, account: account.id, box: account.box }, () =>
      this.#registry.leave(room.id, account.id),
    )
  }

  setListener(account: AccountRow, listener: { url: string; key: string; coalesce: boolean } | null): Promise<void> {
    if (!listener)
      return this.#queue().submit({ k: 'clearListener', account: account.id }, () =>
        this.#registry.removeListener(account.id),
      )
    const created = Date.now()
    return this.#queue().submit({ k: 'setListener', account: account.id, ...listener, at: created }, () =>
      this.#registry.putListener({ account: account.id, created, ...listener }),
    )
  }
}
