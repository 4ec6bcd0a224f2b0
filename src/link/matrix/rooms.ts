// Matrix rooms that we are in, as their state events make them: encryption never goes away again, members come and go.
import type { LinkStore, RoomState } from '../../store/link/link-store.ts'
import type { RoomEvent } from './sync-answer.ts'

export class Rooms {
  readonly #rooms: Map<string, RoomState>
  readonly #changed = new Set<string>()

  constructor(links: LinkStore) {
    this.#rooms = links.rooms()
  }

  get(id: string): RoomState | null {
    return this.#rooms.get(id) ?? null
  }

  ids(): string[] {
    return [...this.#rooms.keys()]
  }

  /** An encrypted room that those two have joined and nobody else; null where there is none. */
  between(one: string, other: string): string | null {
    for (const [id, { encrypted, members }] of this.#rooms)
      if (encrypted && members[one] === 'join' && members[other] === 'join' && Object.keys(members).length === 2)
        return id
    return null
  }

  /** A state event, or any other, which is none. */
  apply(id: string, event: RoomEvent): void {
    if (event.state_key === undefined) return
    const room = this.#rooms.get(id) ?? { encrypted: false, members: {} }
    if (event.type === 'm.room.encryption') room.encrypted = true
    else if (event.type === 'm.room.member') {
      const { membership } = event.content
      if (membership === 'join' || membership === 'invite') room.members[event.state_key] = membership
      else delete room.members[event.state_key]
    } else return
    this.#rooms.set(id, room)
    this.#changed.add(id)
  }

  joined(id: string): void {
    if (!this.#rooms.has(id)) this.#rooms.set(id, { encrypted: false, members: {} })
    this.#changed.add(id)
  }

  gone(id: string): void {
    if (this.#rooms.delete(id)) this.#changed.add(id)
  }

  /** Those that changed since the last time; null for one that we left. */
  changes(): Map<string, RoomState | null> {
    const changes = new Map([...this.#changed].map((id) => [id, this.get(id)]))
    this.#changed.clear()
    return changes
  }
}
