// The routes that log in to the page and out of it. A link is for persons and operators, never for an agent below them.

import { KEY_SECONDS } from '../../identity/logins.ts'
import type { AccountRow } from '../../store/rows.ts'
import { denied, Refusal } from '../../wire/refusal.ts'
import { rfc3339 } from '../../wire/time.ts'
import { UI, type UiAnswer, type UiRoute } from '../../wire/ui.ts'
import { attested, callerOf } from '../http/caller.ts'
import { checked } from '../http/checked.ts'
import type { Door } from '../http/door.ts'

/** What each route does with a body that has been read. */
export const LOGINS: { [R in UiRoute]: (door: Door, request: Request, body: unknown) => Promise<UiAnswer<R>> } = {
  link: async (door, request, body) => {
    const { login_secs } = checked(UI.link.request, body)
    const { account } = await callerOf(door, request)
    mayHaveLink(door, request, account)
    const { secret, until } = door.identity.logins.offer(account, login_secs ?? KEY_SECONDS)
    const url = `http://127.0.0.1:${door.mail.ownPort()}/ui#login=${secret}`
    return { url, expires_at: rfc3339(until) }
  },
  login: async (door, request, body) => {
    const { secret } = checked(UI.login.request, body)
    const { logins } = door.identity
    const verdict = await attested(door, request)
    // an agent that got hold of a link is refused here, and the link is still good for its person
    door.identity.greet(logins.offered(secret), verdict, {})
    const { key, account, until } = logins.redeem(secret)
    return { key, account: account.name, expires_at: rfc3339(until) }
  },
  logout: async (door, request, body) => {
    checked(UI.logout.request, body)
    const { account } = await callerOf(door, request)
    const { logins } = door.identity
    const authorization = request.headers.get('authorization')
    if (!logins.isKey(authorization)) return { ended: logins.end(account) }
    logins.leave(authorization)
    return { ended: 1 }
  },
}

function mayHaveLink(door: Door, request: Request, account: AccountRow): void {
  if (door.identity.logins.isKey(request.headers.get('authorization')))
    throw new Refusal('permission_denied', 'a login of the page makes no further ones', {}, 'run: mail4agent ui')
  if (account.kind !== 'person' && !account.can.operator) throw denied('operator')
}
