// whoami: the caller as the mailbox sees it. The first contact of a new session.

import { formatAddress } from '../wire/address.ts'
import type { WhoamiAnswer } from '../wire/answers.ts'
import type { WhoamiRequest } from '../wire/requests.ts'
import { rfc3339 } from '../wire/time.ts'
import type { Caller, Mail } from './mail.ts'
import { addressOf } from './who.ts'

/** So many rooms are listed. */
const ROOMS = 200

export function whoami(mail: Mail, caller: Caller, { explain }: WhoamiRequest): WhoamiAnswer {
  const { account, session } = caller
  const address = addressOf(caller)
  const rooms = mail.store.registry.roomsOf(account.id)
  return {
    address,
    address_text: formatAddress(address),
    account: account.name,
    label: account.label,
    capabilities: Object.entries(account.can).flatMap(([name, granted]) => (granted ? [name] : [])),
    rooms: rooms.slice(0, ROOMS).map((room) => room.name),
    ...(rooms.length > ROOMS ? { rooms_more: true } : {}),
    card: { attested: session.attested, corroborated: session.corroborated, declared: session.declared },
    unread: mail.store.unread(account.box, session.box),
    ...(explain && caller.explain ? { explain: caller.explain() } : {}),
    now: rfc3339(mail.now()),
  }
}
