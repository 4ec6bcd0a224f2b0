// contacts: whom the caller can write to, and what went between them: a view of accounts, rooms and mail, never a list to maintain.
import type { TrafficRow } from '../store/people/people.ts'
import { roomPeer } from '../store/tally.ts'
import { canonical } from '../wire/names.ts'
import type { ContactsAnswer, ContactsRequest } from '../wire/people.ts'
import { rfc3339, rfc3339OrNull } from '../wire/time.ts'
import { isLive } from './drained.ts'
import type { Caller, Mail } from './mail.ts'
import { maySee } from './visible.ts'

const PAGE = 100
/** Live sessions of an account that are named; the directory has them all. */
const SESSIONS = 20

/** Accounts by name, a page at a time; rooms and aliases on the first page. */
export async function contacts(mail: Mail, caller: Caller, request: ContactsRequest): Promise<ContactsAnswer> {
  const { registry, people } = mail.store
  const { account } = caller
  const flow = flowByPeer(await people.traffic(account.id))
  const after = request.after == null ? null : canonical(request.after)
  const rest = registry
    .accounts()
    .filter((one) => one.id !== account.id && (after === null || canonical(one.name) > after))
    .filter((one) => maySee(mail, caller, one))
  const shown = rest.slice(0, request.limit ?? PAGE)
  return {
    accounts: shown.map((one) => {
      const live = registry.sessionsOf(one.id, mail.now()).filter((session) => isLive(mail, session))
      return {
        id: one.name,
        label: one.label,
        kind: one.kind,
        ...(people.isPrivate(one.id) ? { private: true } : {}),
        live_sessions: live.slice(0, SESSIONS).map((session) => `${one.name}/${session.name}`),
        last_seen: rfc3339OrNull(people.lastSeen(one.id)),
        ...trafficOf(flow.get(one.id)),
      }
    }),
    rooms:
      after === null
        ? registry.rooms().map(({ id, name, label }) => ({
            id: name,
            label,
            member: registry.isMember(id, account.id),
            ...trafficOf(flow.get(roomPeer(id))),
          }))
        : [],
    aliases: after === null ? [...people.aliases(account.id)] : [],
    machines: after === null ? await machinesOf(mail) : [],
    has_more: shown.length < rest.length,
    after: shown.at(-1)?.name ?? request.after ?? null,
    now: rfc3339(mail.now()),
  }
}

/** Other machines that are pinned, and when one of their accounts last wrote. */
async function machinesOf({ link, store }: Mail): Promise<ContactsAnswer['machines']> {
  const status = (await link?.status()) ?? null
  return (status?.peers ?? []).map(({ name }) => {
    const accounts = store.registry.remotes().filter((one) => canonical(one.name).endsWith(`@${canonical(name)}`))
    const seen = Math.max(0, ...accounts.map(({ id }) => store.people.lastSeen(id) ?? 0))
    return { id: name, last_seen: rfc3339OrNull(seen || null) }
  })
}

type Flow = Pick<TrafficRow, 'sent' | 'heard' | 'lastSent' | 'lastHeard'>
const NOTHING: Flow = { sent: 0, heard: 0, lastSent: 0, lastHeard: 0 }

const trafficOf = ({ sent, heard, lastSent, lastHeard } = NOTHING) => ({
  sent,
  heard,
  last_written_at: rfc3339OrNull(lastSent || null),
  last_heard_at: rfc3339OrNull(lastHeard || null),
})

/** The days of each peer together. */
export function flowByPeer(rows: readonly TrafficRow[]): Map<number, Flow> {
  const flow = new Map<number, Flow>()
  for (const row of rows) {
    const { sent, heard, lastSent, lastHeard } = flow.get(row.peer) ?? NOTHING
    flow.set(row.peer, {
      sent: sent + row.sent,
      heard: heard + row.heard,
      lastSent: Math.max(lastSent, row.lastSent),
      lastHeard: Math.max(lastHeard, row.lastHeard),
    })
  }
  return flow
}
