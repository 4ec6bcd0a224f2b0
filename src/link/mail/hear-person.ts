// A text of a pinned person: what it is about is mail here, or a word back into the same room.
import type { Link } from '../link.ts'
import { sendEncrypted } from '../matrix/transport.ts'
import type { Peer } from '../peers.ts'
import { hear } from './people.ts'

type Text = { room: string; event: string; device: string; content: unknown; known: boolean }

/** `known`: it was there before we saw the room, and wakes nobody. */
export async function hearPerson(link: Link, peer: Peer, { room, event, device, content, known }: Text): Promise<void> {
  const { mail, links, incoming, homeserver } = link
  const heard = hear(mail, links, peer, event, device, content)
  if (heard === null) return
  link.heardIn(peer, room)
  if ('answer' in heard) {
    const notice = await link.encrypt(room, peer.user, 'm.room.message', { msgtype: 'm.notice', body: heard.answer })
    await sendEncrypted(homeserver, room, crypto.randomUUID(), notice)
    return
  }
  await incoming.envelope(peer, heard.envelope, known)
  const ours = links.ours(peer.name, 'message', heard.envelope.id)
  if (ours !== null) links.map(peer.name, 'event', event, ours)
}
