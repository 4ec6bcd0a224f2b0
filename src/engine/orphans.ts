// Letters to sessions that ended without a successor: their account sees that they are there and from whom, not what they say.
import type { SessionRow } from '../store/rows.ts'
import type { Orphans } from '../wire/answers.ts'
import { bytes } from '../wire/text.ts'
import { readFragment } from './fragment.ts'
import type { Caller, Mail } from './mail.ts'

const LETTERS = 10

/**
 * The `orphaned` member of an inbox answer as JSON text, empty where there is nothing to tell. At most `limit` bytes: letters
 * are left out from the newest on, the count is always whole.
 */
export function orphansText(mail: Mail, caller: Caller, limit: number): string {
  const letters: Orphans['letters'] = []
  let count = 0
  for (const session of lostSessions(mail, caller)) {
    const found = mail.store.orphans(session.box, LETTERS)
    count += found.count
    for (const id of found.ids) {
      const message = letters.length < LETTERS ? mail.store.message(id) : null
      if (!message) continue
      const { message_id, from_text, created_at } = readFragment(message.json)
      const to = message.recipients.find((entry) => entry.box === session.box)
      letters.push({ message_id, from_text, to_text: to?.text ?? `${caller.account.name}/${session.name}`, created_at })
    }
  }
  if (count === 0) return ''
  letters.sort((a, b) => (a.message_id < b.message_id ? -1 : 1))
  for (;;) {
    const text = `"orphaned":${JSON.stringify({ count, letters })},`
    if (bytes(text) <= limit || letters.length === 0) return text
    letters.pop()
  }
}

/** Ended ones, and those whose process is gone but whose end nobody has recorded yet. */
function lostSessions(mail: Mail, { account, session }: Caller): SessionRow[] {
  const { store } = mail
  const gone = store.registry
    .sessionsOf(account.id, Number.MAX_SAFE_INTEGER)
    .filter((one) => one.id !== session.id && store.openCount(one.box) > 0 && !mail.alive(one))
  return [...store.orphanedSessions(account.id), ...gone]
}
