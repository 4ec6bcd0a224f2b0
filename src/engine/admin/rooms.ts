// Rooms and their members. Adding and removing a member may be repeated.
import type { RoomRow } from '../../store/rows.ts'
import type { AdminAnswer, AdminRequest } from '../../wire/admin.ts'
import { LIMITS } from '../../wire/limits.ts'
import { Refusal } from '../../wire/refusal.ts'
import { checkLine } from '../../wire/text.ts'
import { rfc3339 } from '../../wire/time.ts'
import type { Mail } from '../mail.ts'
import { knownAccount, knownRoom } from './known.ts'
import { pageByName } from './paging.ts'

/** @throws Refusal `name_taken` */
export async function addRoom(mail: Mail, request: AdminRequest<'room'>): Promise<AdminAnswer<'room'>> {
  if (request.label != null) checkLine('label', request.label, LIMITS.label)
  const taken = mail.store.registry.room(request.id)
  if (taken)
    throw new Refusal(
      'name_taken',
      `the room ${taken.name} exists`,
      { room: taken.name },
      'choose another name, or add members to the existing room',
    )
  await mail.store.addRoom(request.id, request.label || null)
  return {}
}

export function listRooms(mail: Mail, request: AdminRequest<'room/list'>): AdminAnswer<'room/list'> {
  const { rows, has_more, after } = pageByName(mail.store.registry.rooms(), request)
  const rooms = rows.map((room) => ({
    id: room.name,
    label: room.label,
    members: memberNames(mail, room),
    created_at: rfc3339(room.created),
  }))
  return { rooms, has_more, after }
}

function memberNames(mail: Mail, room: RoomRow): string[] {
  const { registry } = mail.store
  const names = registry.members(room.id).flatMap((id) => registry.accountById(id)?.name ?? [])
  return names.sort((a, b) => a.localeCompare(b, 'en'))
}

export async function removeRoom(
  mail: Mail,
  request: AdminRequest<'room/remove'>,
): Promise<AdminAnswer<'room/remove'>> {
  await mail.store.removeRoom(knownRoom(mail, request.id))
  return {}
}

export async function addMember(
  mail: Mail,
  request: AdminRequest<'room/member/add'>,
): Promise<AdminAnswer<'room/member/add'>> {
  const room = knownRoom(mail, request.room)
  const account = knownAccount(mail, request.participant)
  if (!mail.store.registry.isMember(room.id, account.id)) await mail.store.join(room, account)
  return {}
}

/** Who is no member, or no account any more, is removed already. */
export async function removeMember(
  mail: Mail,
  request: AdminRequest<'room/member/remove'>,
): Promise<AdminAnswer<'room/member/remove'>> {
  const room = knownRoom(mail, request.room)
  const account = mail.store.registry.account(request.participant)
  if (account && mail.store.registry.isMember(room.id, account.id)) await mail.store.leave(room, account)
  return {}
}
