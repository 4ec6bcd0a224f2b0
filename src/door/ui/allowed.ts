// What a login of the page may do of what an operator may: look, give orphaned mail to its account, and pause what starts agents.
// No accounts, no tokens, no profiles: those say which program is run.
import type { AdminRoute } from '../../wire/admin.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { Door } from '../http/door.ts'

const OF_THE_PAGE: ReadonlySet<AdminRoute> = new Set<AdminRoute>([
  'overview',
  'mailbox',
  'traffic',
  'room/list',
  'orphan/list',
  'orphan/release',
  'agent/list',
  'dispatch/pause',
  'dispatch/resume',
])

/**
 * A key lies in a browser: it must not be able to make itself something that lasts longer.
 * @throws Refusal `permission_denied`
 */
export function checkPageMay(door: Door, request: Request, route: AdminRoute): void {
  if (OF_THE_PAGE.has(route) || !door.identity.logins.isKey(request.headers.get('authorization'))) return
  throw new Refusal('permission_denied', 'a login of the page may not do that', {}, 'use the command line')
}
