// notice: what mail has come that this session has not been told of. Each letter is told once; the answer moves the watermark.
import { SYSTEM } from '../store/people/people.ts'
import { KIND, type PageRow } from '../store/rows.ts'
import type { NoticeAnswer } from '../wire/answers.ts'
import type { NoticeRequest } from '../wire/requests.ts'
import { rfc3339 } from '../wire/time.ts'
import { isImported } from './fragment.ts'
import type { Caller, Mail } from './mail.ts'
import { hasLetter, LOOKED_AT } from './page.ts'
import { tellNotified } from './told.ts'

/** Letters counted for one notice: what lies beyond is only told as more, so that a full mailbox costs no more. */
const COUNTED = 200

/**
 * Letters above both watermarks, that of notices and that of the inbox. Not told: what the session wrote itself, what a sibling
 * has claimed, and, where the telling would start a turn, what must wake nobody.
 */
export function notice(mail: Mail, caller: Caller, request: NoticeRequest): NoticeAnswer {
  const { store } = mail
  const { account, session } = caller
  const after = Math.max(session.told, session.given)
  const boxes = { accountBox: account.box, sessionBox: session.box }
  const senders = new Map<string, { count: number; person: boolean }>()
  const fresh: PageRow[] = []
  let last = after
  let more = false
  let looked = 0
  for (const row of store.head > after
    ? store.page({ ...boxes, which: 'open', after, since: null, expect: COUNTED })
    : []) {
    if (fresh.length === COUNTED) {
      more = true
      break
    }
    // where that many are no news, the next notice goes on
    if (looked++ === LOOKED_AT) break
    if (!hasLetter(row)) {
      last = row.id
      continue
    }
    // from here on it waits for a notice that starts no turn: the watermark cannot leave a gap
    if (request.starts_turn === true && (row.json.includes(SUPPRESSED) || isImported(row.json))) break
    last = row.id
    if (!isNews(mail, caller, row)) continue
    fresh.push(row)
    const { name, person } = senderOf(mail, row)
    const known = senders.get(name)
    if (known) known.count++
    else senders.set(name, { count: 1, person })
  }
  const told = more ? Math.max(last, store.head) : last
  if (told > session.told) {
    session.told = told
    store.touchSession(session)
  }
  tellNotified(mail, fresh)
  if (request.moment != null) mail.wakes.hooked(session, request.moment, session.told)
  return {
    account: account.name,
    fresh: fresh.length,
    more,
    unread: store.unread(account.box, session.box),
    senders: [...senders].map(([from_text, { count, person }]) => ({ from_text, count, person })),
    now: rfc3339(mail.now()),
  }
}

/** Written by `fragmentOf` alone; inside a text its quotes would be escaped. */
const SUPPRESSED = ',"wake_suppressed":"'

function isNews(mail: Mail, { session }: Caller, row: PageRow): boolean {
  if (row.senderBox === session.box) return false
  if (row.kind !== KIND.account) return true
  const claim = mail.store.registry.claim(row.box, row.id, mail.now())
  return claim === undefined || claim.session === session.id
}

const FROM = /"from_text":"([^"]*)"/

/** The sender's address as the letter has it; its account tells whether a person wrote. */
function senderOf(mail: Mail, row: PageRow): { name: string; person: boolean } {
  const name = FROM.exec(row.json)?.[1] ?? 'unknown'
  // nobody proved that this person wrote it
  if (isImported(row.json)) return { name: `${name} (imported)`, person: false }
  // which of its starts wrote it says nothing
  if (accountOf(name) === SYSTEM) return { name: SYSTEM, person: false }
  const session = mail.store.registry.sessionByBox(row.senderBox)
  const account = session
    ? mail.store.registry.accountById(session.account)
    : mail.store.registry.account(accountOf(name))
  return { name, person: account?.kind === 'person' }
}

const accountOf = (address: string): string => address.split('/')[0] ?? address
