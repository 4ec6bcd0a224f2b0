// Texts that were in a room already when we first saw it: they become mail, but of them all the newest alone may wake anybody.
import type { LinkStore } from '../../store/link/link-store.ts'
import { type JoinedRoom, type RoomEvent, timeOf } from '../matrix/sync-answer.ts'

type First = { event: string; at: number }
const key = (room: string): string => `first ${room}`

export class Arrivals {
  readonly #known = new Map<string, First | null>()

  constructor(
    private readonly links: LinkStore,
    /** Does what that user says become mail? */
    private readonly counts: (user: string) => boolean,
  ) {}

  /** The first that we see of a room. What was written down before a crash stays. */
  began({ id, timeline }: JoinedRoom): void {
    if (this.#first(id) !== null) return
    const newest = timeline.findLast(
      ({ type, sender, content }) => type === 'm.room.encrypted' && 'ciphertext' in content && this.counts(sender),
    )
    if (!newest) return
    const first: First = { event: newest.event_id, at: timeOf(newest) }
    this.links.setMeta(key(id), JSON.stringify(first))
    this.#known.set(id, first)
  }

  /** Was it there before, and is it not the newest of those? */
  isKnown(room: string, event: RoomEvent): boolean {
    const first = this.#first(room)
    return first !== null && event.event_id !== first.event && timeOf(event) <= first.at
  }

  #first(room: string): First | null {
    const known = this.#known.get(room)
    if (known !== undefined) return known
    const text = this.links.meta(key(room))
    const first: First | null = text === null ? null : JSON.parse(text)
    this.#known.set(room, first)
    return first
  }
}
