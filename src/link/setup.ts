// Setting the link up and ending it: a login, a new vault, a device with keys of its own; and the way back.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import type { Mail } from '../engine/mail.ts'
import type { AdminRequest } from '../wire/admin.ts'
import { Refusal } from '../wire/refusal.ts'
import { Link, type LinkLog } from './link.ts'
import { SUBSCRIBER } from './mail/outgoing.ts'
import { discover, Homeserver } from './matrix/homeserver.ts'
import { type Credentials, logIn } from './matrix/login.ts'
import { type Environment, forgetKey } from './vault/holders.ts'
import { holderOf, Vault, vaultPath } from './vault/vault.ts'

const PATIENCE_MS = 120_000

/**
 * Logs in and begins with an empty vault; where that fails nothing is left behind.
 * @throws Refusal `link_exists`, `homeserver`, `usage`, `vault_key_missing`
 */
export async function setUp(
  folder: string,
  mail: Mail,
  log: LinkLog,
  env: Environment,
  request: AdminRequest<'link/setup'>,
): Promise<Link> {
  if (existsSync(vaultPath(folder))) throw new Refusal('link_exists', 'this mailbox has a link already')
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const base = await discover(request.homeserver, signal)
  const homeserver = new Homeserver(base, null, signal)
  const session = await logIn(homeserver, credentialsOf(request))
  let vault: Vault | null = null
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    vault = Vault.make(folder, env, holderOf(request.holder ?? 'file', request.variable ?? undefined), {
      homeserver: base,
      session: JSON.stringify(session),
      'store-key': randomBytes(32).toString('base64'),
    })
    mail.store.setCursor(SUBSCRIBER, mail.store.head) // what was sent before is for nobody there
    const link = await Link.open(folder, mail, vault, log)
    await link.settle().catch(() => {}) // the loop goes on with it
    await link.crossSign()
    await link.settle().catch(() => {})
    return link
  } catch (error) {
    if (vault) forgetKey(folder, vault.holder)
    forgetLink(folder)
    await homeserver.call('POST', '/logout', {}).catch(() => {})
    throw error
  }
}

function credentialsOf({ way, user, secret }: AdminRequest<'link/setup'>): Credentials {
  switch (way) {
    case 'access_token':
    case 'login_token':
      return { way, token: secret }
    case 'password':
    case 'registration_token':
      if (user == null) throw new Refusal('usage', 'name the user with --user')
      return way === 'password' ? { way, user, password: secret } : { way, user, token: secret }
  }
}

/** Logs the device out, where the homeserver can be reached, and forgets it here in any case. */
export async function tearDown(folder: string, env: Environment, link: Link | null): Promise<void> {
  if (link) {
    await link.homeserver.call('POST', '/logout', {}, { ms: 10_000 }).catch(() => {})
    await link.stop()
  }
  try {
    forgetKey(folder, Vault.open(folder, env).holder)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error // what does not open holds nothing that could be forgotten
  }
  forgetLink(folder)
}

/** Takes away every file of the link. */
function forgetLink(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}
