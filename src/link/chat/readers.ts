// Who in a room can read what we write there: pinned members alone get the key.
import type { Link } from '../link.ts'

/** Members and the invited, but for ourselves: those whose pin holds, and those who get nothing. */
export function readersOf(link: Link, room: string): { readers: string[]; withheld: string[] } {
  const others = Object.keys(link.rooms.get(room)?.members ?? {}).filter((user) => user !== link.session.user)
  const reads = (user: string) => link.peers.byUser(user) !== null && link.pins.get(user)?.ok === true
  return { readers: others.filter(reads).sort(), withheld: others.filter((user) => !reads(user)).sort() }
}
