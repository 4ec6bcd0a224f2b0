// rooms, join, leave: rooms as an account sees them. Who is a member the operator decides; leaving is everybody's own.
import type { RoomRow } from '../store/rows.ts'
import type { RoomAnswer, RoomRequest, RoomsAnswer, RoomsRequest } from '../wire/people.ts'
import { Refusal } from '../wire/refusal.ts'
import { rfc3339 } from '../wire/time.ts'
import type { Caller, Mail } from './mail.ts'
import { visibleMembers } from './visible.ts'

/** All rooms, or the one named. @throws Refusal `unknown_room` */
export function rooms(mail: Mail, caller: Caller, request: RoomsRequest): RoomsAnswer {
  const { registry } = mail.store
  const { account } = caller
  const shown = request.room == null ? registry.rooms() : [knownRoom(mail, request.room)]
  return {
    rooms: shown.map((room) => {
      const member = registry.isMember(room.id, account.id)
      const names = () => visibleMembers(mail, caller, room.id).map(({ name }) => name)
      return {
        id: room.name,
        label: room.label,
        member,
        ...(member || account.can.operator ? { members: names() } : {}),
        created_at: rfc3339(room.created),
      }
    }),
    now: rfc3339(mail.now()),
  }
}

/** An operator becomes a member itself; it makes others members with /admin. @throws Refusal `unknown_room` */
export async function join(mail: Mail, { account }: Caller, request: RoomRequest): Promise<RoomAnswer> {
  const room = knownRoom(mail, request.room)
  if (!mail.store.registry.isMember(room.id, account.id)) await mail.store.join(room, account)
  return { room: room.name, member: true, now: rfc3339(mail.now()) }
}

/** Whoever is no member has left already. @throws Refusal `unknown_room` */
export async function leave(mail: Mail, { account }: Caller, request: RoomRequest): Promise<RoomAnswer> {
  const room = knownRoom(mail, request.room)
  if (mail.store.registry.isMember(room.id, account.id)) await mail.store.leave(room, account)
  return { room: room.name, member: false, now: rfc3339(mail.now()) }
}

/** @throws Refusal `unknown_room` */
export function knownRoom(mail: Mail, name: string): RoomRow {
  const room = mail.store.registry.room(name)
  if (!room) throw new Refusal('unknown_room', `no room ${name}`, { room: name })
  return room
}
