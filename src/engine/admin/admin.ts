// The operator's registry: every /admin route and its function, one change at a time.
import type { AdminAnswer, AdminRequest, AdminRoute } from '../../wire/admin.ts'
import { denied } from '../../wire/refusal.ts'
import type { Caller, Mail } from '../mail.ts'
import { addAccount, listAccounts, removeAccount, rotateAccount, setAccount } from './accounts.ts'
import { addAgent, listAgents, pause, removeAgent, resume, setAgent } from './agents.ts'
import { backup } from './backup.ts'
import { check } from './check.ts'
import { importLetters } from './import.ts'
import { LINK_ROUTES } from './link.ts'
import { listListeners, removeListener, setListener } from './listeners.ts'
import { mailbox } from './mailbox.ts'
import { listOrphans, releaseOrphans } from './orphans.ts'
import { overview } from './overview.ts'
import { retention } from './retention.ts'
import { addMember, addRoom, listRooms, removeMember, removeRoom } from './rooms.ts'
import { traffic } from './traffic.ts'
import { planWake, setWake, testWake, wakeStatus } from './wake.ts'

type Routes = {
  [R in AdminRoute]: (mail: Mail, request: AdminRequest<R>) => AdminAnswer<R> | Promise<AdminAnswer<R>>
}

export const ADMINISTER: Routes = {
  participant: addAccount,
  'participant/set': setAccount,
  'participant/list': listAccounts,
  'participant/rotate': rotateAccount,
  'participant/remove': removeAccount,
  room: addRoom,
  'room/list': listRooms,
  'room/remove': removeRoom,
  'room/member/add': addMember,
  'room/member/remove': removeMember,
  listener: setListener,
  'listener/list': listListeners,
  'listener/remove': removeListener,
  'orphan/list': listOrphans,
  'orphan/release': releaseOrphans,
  import: importLetters,
  retention,
  agent: addAgent,
  'agent/set': setAgent,
  'agent/list': listAgents,
  'agent/remove': removeAgent,
  'dispatch/pause': pause,
  'dispatch/resume': resume,
  'wake/status': wakeStatus,
  'wake/set': setWake,
  'wake/plan': planWake,
  'wake/test': testWake,
  backup,
  check,
  overview,
  mailbox,
  traffic,
  ...LINK_ROUTES,
}

/** The last change of each store: two operators at once must not take one name, or remove each other. */
const turns = new WeakMap<object, Promise<unknown>>()

/** They take long, and change nothing that another change looks at. */
const LONG: ReadonlySet<AdminRoute> = new Set(['backup', 'check', 'retention', 'wake/plan', 'wake/test'])

/**
 * Runs an admin route for an operator. The request has passed the route's schema.
 * @throws Refusal `permission_denied`, and those of the route
 */
export function administer<R extends AdminRoute>(
  mail: Mail,
  route: R,
  caller: Caller,
  request: AdminRequest<R>,
): Promise<AdminAnswer<R>> {
  const run = async () => {
    // looked up when the turn comes: the change before this one may have taken the right away
    const account = mail.store.registry.account(caller.account.name)
    if (account?.id !== caller.account.id || !account.can.operator) throw denied('operator')
    return ADMINISTER[route](mail, request)
  }
  if (LONG.has(route) || route.startsWith('link/')) return run()
  const turn = (turns.get(mail.store) ?? Promise.resolve()).then(run)
  turns.set(
    mail.store,
    turn.catch(() => {}),
  )
  return turn
}
