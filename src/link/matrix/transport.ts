// The requests of the crypto library as calls of the homeserver: Matrix CS §11.
import type { Transport } from '../crypto/device.ts'
import type { Homeserver, Json } from './homeserver.ts'

const part = encodeURIComponent

export const transportOver =
  (homeserver: Homeserver): Transport =>
  async (kind, { body, event_type: type = '', txn_id: txn = '', room_id: room = '' }) => {
    const call = (): Promise<Json> => {
      switch (kind) {
        case 'upload':
          return homeserver.call('POST', '/keys/upload', body)
        case 'query':
          return homeserver.call('POST', '/keys/query', body)
        case 'claim':
          return homeserver.call('POST', '/keys/claim', body)
        case 'signatures':
          return homeserver.call('POST', '/keys/signatures/upload', body)
        case 'to_device':
          return homeserver.call('PUT', `/sendToDevice/${part(type)}/${part(txn)}`, body)
        case 'room':
          return homeserver.call('PUT', `/rooms/${part(room)}/send/m.room.encrypted/${part(txn)}`, body)
      }
    }
    return JSON.stringify(await call())
  }

/** Resolves to the event id. The same `txn` again answers the same one: Matrix CS §10.6.2. */
export async function sendEncrypted(
  homeserver: Homeserver,
  room: string,
  txn: string,
  content: string,
): Promise<string> {
  const answer = await homeserver.call('PUT', `/rooms/${part(room)}/send/m.room.encrypted/${part(txn)}`, content)
  return String(answer.event_id)
}

/** An encrypted room for two machines: nobody but the invited gets in, and nobody can take the encryption away. */
export async function createRoom(homeserver: Homeserver, peer: string): Promise<string> {
  const answer = await homeserver.call('POST', '/createRoom', {
    preset: 'private_chat',
    is_direct: true,
    invite: [peer],
    initial_state: [
      { type: 'm.room.encryption', state_key: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } },
      { type: 'm.room.history_visibility', state_key: '', content: { history_visibility: 'joined' } },
    ],
  })
  return String(answer.room_id)
}

export async function inRoom(
  homeserver: Homeserver,
  room: string,
  what: 'join' | 'leave' | 'invite' | 'kick',
  body: object = {},
): Promise<void> {
  await homeserver.call('POST', `/rooms/${part(room)}/${what}`, body)
}

/** Again into the room for two: an invitation that says so is a membership that is set, Matrix CS §10.4.1. */
export async function inviteDirectly(homeserver: Homeserver, room: string, user: string): Promise<void> {
  const content = { membership: 'invite', is_direct: true }
  await homeserver.call('PUT', `/rooms/${part(room)}/state/m.room.member/${part(user)}`, content)
}

/** Events before `from`, newest first, at most 100. */
export const pageBack = (homeserver: Homeserver, room: string, from: string, to: string | null): Promise<Json> =>
  homeserver.call('GET', `/rooms/${part(room)}/messages`, null, { query: { dir: 'b', from, to, limit: 100 } })
