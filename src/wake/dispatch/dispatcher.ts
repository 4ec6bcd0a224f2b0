// To whom the end of a dispatch is told, and an answer to a ping.
import { KIND, type Recipient, type SessionRow } from '../../store/rows.ts'
import type { Store } from '../../store/store.ts'

/** To whom a letter about what `account` asked for goes: the session that asked while it runs, else its account. */
export function recipientOf(
  store: Store,
  account: number,
  box: number,
  alive: (session: SessionRow) => boolean,
): Recipient | null {
  const row = store.registry.accountById(account)
  if (!row || store.registry.account(row.name)?.id !== row.id) return null
  const session = store.registry.sessionByBox(box)
  if (session && session.account === account && session.ended === null && alive(session))
    return { text: `${row.name}/${session.name}`, kind: KIND.session, box, account, room: 0 }
  return { text: row.name, kind: KIND.account, box: row.box, account, room: 0 }
}
