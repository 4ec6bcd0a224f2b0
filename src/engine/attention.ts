// What a session has seen of its mail, beside the watermarks that the store keeps: what lies below them but was not shown whole.
import type { SessionRow } from '../store/rows.ts'
import type { InboxRequest } from '../wire/requests.ts'
import type { Caller, Mail } from './mail.ts'

type State = NonNullable<InboxRequest['state']>

type Attention = {
  /** Shown cut, or kept back because a sibling had claimed it: a cursor that passes these does not open them. */
  readonly withheld: Set<number>
  /** Those of them that were shown cut. */
  readonly cut: Set<number>
  /** Listed by an inbox call with a filter, which moves no watermark. */
  readonly listed: Set<number>
  /** How far waits with a filter have come, by the state they ask for, so that each ends for new mail only. */
  readonly filtered: Map<State, number>
}

/** Lost with the daemon: then a cursor that passes a cut letter opens it, which claims no more than that it was listed. */
const memory = new WeakMap<SessionRow, Attention>()

export function attentionOf(session: SessionRow): Attention {
  const known = memory.get(session)
  if (known) return known
  const attention: Attention = { withheld: new Set(), cut: new Set(), listed: new Set(), filtered: new Map() }
  memory.set(session, attention)
  return attention
}

/**
 * A cursor says: I have what came before it. So what this session was given up to there, whole, is opened by it.
 * Null where nothing new was passed.
 */
export function openPassed(mail: Mail, { account, session }: Caller, cursor: number): Promise<void> | null {
  const upTo = Math.min(cursor, session.given)
  if (upTo <= session.opened) return null
  const { withheld, cut } = attentionOf(session)
  return mail.store.open(account, session, { upTo, except: withheld }).then(() => {
    for (const set of [withheld, cut]) for (const id of set) if (id <= session.opened) set.delete(id)
  })
}
