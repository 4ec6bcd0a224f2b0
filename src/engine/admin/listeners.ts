// Doorbells of accounts: which URLs may be rung, and the key that signs the rings.
import type { AdminAnswer, AdminRequest } from '../../wire/admin.ts'
import { LIMITS } from '../../wire/limits.ts'
import { malformed, tooLarge } from '../../wire/refusal.ts'
import { bytes } from '../../wire/text.ts'
import { rfc3339OrNull } from '../../wire/time.ts'
import type { Mail } from '../mail.ts'
import { knownAccount } from './known.ts'
import { newSecret } from './secret.ts'

// Matched on the text as given: a URL parser would first normalise 0x7f.1, 127.1 or a backslash into something harmless.
const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|localhost)(?::([0-9]{1,5}))?(?:[/?#][^\p{Cc}\s\\]*)?$/iu

/**
 * The port of a doorbell URL: http, 127.0.0.1 or localhost, no user information, nothing else.
 * @throws Refusal `too_large` or `malformed` with field `url`
 */
export function checkListenerUrl(url: string, ownPort: number): number {
  const size = bytes(url)
  if (size > LIMITS.url) throw tooLarge('url', LIMITS.url, size)
  const found = LOOPBACK.exec(url)
  if (!found || !url.startsWith('http://') || !url.isWellFormed() || !URL.canParse(url))
    throw malformed('url', 'has to be http://127.0.0.1:PORT/… or http://localhost:PORT/…')
  const port = Number(found[1] ?? 80)
  if (port < 1 || port > 65_535) throw malformed('url', 'has no valid port')
  if (port === ownPort) throw malformed('url', "names the mailbox's own port")
  return port
}

/** Sets or replaces the doorbell; each time with a new key, which is shown in this answer alone. */
export async function setListener(mail: Mail, request: AdminRequest<'listener'>): Promise<AdminAnswer<'listener'>> {
  checkListenerUrl(request.url, mail.ownPort())
  const account = knownAccount(mail, request.account)
  const key = newSecret()
  await mail.store.setListener(account, { url: request.url, key, coalesce: request.coalesce ?? false })
  return { key }
}

export function listListeners(mail: Mail): AdminAnswer<'listener/list'> {
  const listeners = mail.store.registry.listeners().flatMap((listener) => {
    const account = mail.store.registry.accountById(listener.account)
    if (!account) return []
    const health = mail.bell(account.id)
    return {
      account: account.name,
      url: listener.url,
      coalesce: listener.coalesce,
      pending: health.pending,
      last_ok: rfc3339OrNull(health.lastOk),
      last_error: health.lastError,
      last_error_at: rfc3339OrNull(health.lastErrorAt),
    }
  })
  return { listeners }
}

/** An account without a doorbell is left as it is. */
export async function removeListener(
  mail: Mail,
  request: AdminRequest<'listener/remove'>,
): Promise<AdminAnswer<'listener/remove'>> {
  const account = knownAccount(mail, request.account)
  if (mail.store.registry.listener(account.id)) await mail.store.setListener(account, null)
  return {}
}
