// directory: every account with its sessions, live ones first, and every room as the caller stands to it.
import type { AccountRow, SessionRow } from '../store/rows.ts'
import type { Attested, SessionEntry } from '../wire/card.ts'
import { Json } from '../wire/json.ts'
import { LIMITS } from '../wire/limits.ts'
import { canonical } from '../wire/names.ts'
import type { DirectoryRequest } from '../wire/requests.ts'
import { bytes } from '../wire/text.ts'
import { rfc3339 } from '../wire/time.ts'
import { isLive } from './drained.ts'
import type { Caller, Mail } from './mail.ts'
import { maySee, visibleMembers } from './visible.ts'

/** Ended sessions are shown this long, and so many of an account: each command outside of an agent is one. */
const ENDED_MS = 3_600_000
const ENDED = 3

/**
 * Accounts by name, a page at a time and within the usual budget; an account that alone is more is shown with the sessions
 * that fit, live ones first. Rooms are on each page, at most half of it, those first that the caller is a member of.
 */
export function directory(mail: Mail, caller: Caller, request: DirectoryRequest): Json {
  const now = rfc3339(mail.now())
  const total = request.max_bytes ?? LIMITS.budgetDefault
  const rooms = roomsText(mail, caller, total / 2)
  const after = request.after == null ? null : canonical(request.after)
  const accounts = mail.store.registry
    .accounts()
    .filter((account) => (after === null || canonical(account.name) > after) && maySee(mail, caller, account))
  const limit = request.limit ?? LIMITS.pageMax
  const budget = total - bytes(rooms) - 400
  const shown: string[] = []
  let used = 0
  let last = request.after ?? null
  for (const account of accounts) {
    if (shown.length >= limit) break
    let text = accountText(mail, caller, account, Number.MAX_SAFE_INTEGER)
    if (used + bytes(text) > budget) {
      if (shown.length > 0) break
      text = accountText(mail, caller, account, budget)
    }
    used += bytes(text) + 1
    shown.push(text)
    last = account.name
  }
  const more = shown.length < accounts.length
  const end = `"has_more":${more},"after":${JSON.stringify(last)},"now":"${now}"`
  return new Json(`{"participants":[${shown.join(',')}],${rooms},${end}}`)
}

/** The members about rooms, at most `limit` bytes: by name; where not all fit, the caller's own before others. */
function roomsText(mail: Mail, caller: Caller, limit: number): string {
  const { registry } = mail.store
  const { account } = caller
  const rooms = registry.rooms().map(({ id, name }) => {
    const member = registry.isMember(id, account.id)
    return { member, text: JSON.stringify({ id: name, member, members: visibleMembers(mail, caller, id).length }) }
  })
  const kept = new Set<(typeof rooms)[number]>()
  let left = limit - ROOMS_FRAME
  for (const room of rooms.toSorted((a, b) => Number(b.member) - Number(a.member))) {
    left -= room.text.length + 1
    if (left < 0) break
    kept.add(room)
  }
  const shown = rooms.filter((room) => kept.has(room)).map(({ text }) => text)
  return `"rooms":[${shown.join(',')}]${kept.size < rooms.length ? ',"rooms_more":true' : ''}`
}

/** Bytes of the members about rooms without the rooms. */
const ROOMS_FRAME = 30

/** At most `limit` bytes of sessions. */
function accountText(mail: Mail, caller: Caller, account: AccountRow, limit: number): string {
  const entries = mail.store.registry
    .sessionsOf(account.id, mail.now() - ENDED_MS)
    .map((session) => entryOf(mail, caller, account, session))
    .sort((a, b) => Number(b.live) - Number(a.live) || b.last_seen_unix_ms - a.last_seen_unix_ms)
  const sessions: string[] = []
  let used = 0
  let ended = 0
  for (const entry of entries) {
    if (!entry.live && ended++ === ENDED) break
    const text = JSON.stringify(entry)
    used += bytes(text) + 1
    if (used > limit - 1_000) break
    sessions.push(text)
  }
  const { name, label, kind } = account
  return `{"id":"${name}","label":${JSON.stringify(label)},"kind":"${kind}","sessions":[${sessions.join(',')}]}`
}

function entryOf(mail: Mail, caller: Caller, account: AccountRow, session: SessionRow): SessionEntry {
  const { attested, corroborated, declared } = session
  return {
    id: session.name,
    address: `${account.name}/${session.name}`,
    card: { attested: shownTo(mail, caller, attested), corroborated, declared },
    last_seen: rfc3339(session.lastSeen),
    last_seen_unix_ms: session.lastSeen,
    live: isLive(mail, session),
  }
}

/** The spawner is an address: that of a private account is kept back. */
function shownTo(mail: Mail, caller: Caller, attested: Attested): Attested {
  const name = attested.spawned_by?.split('/')[0]
  const spawner = name === undefined ? undefined : mail.store.registry.account(name)
  return spawner && !maySee(mail, caller, spawner) ? { ...attested, spawned_by: null } : attested
}
