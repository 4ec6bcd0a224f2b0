// The link to other machines: its routes go to link/, which is loaded only where there is one.
import type { AdminAnswer, AdminRequest } from '../../wire/admin.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { LinkRoute } from '../link.ts'
import type { Mail } from '../mail.ts'

type Routes = { [R in LinkRoute]: (mail: Mail, request: AdminRequest<R>) => Promise<AdminAnswer<R>> }

const to =
  <R extends LinkRoute>(route: R) =>
  (mail: Mail, request: AdminRequest<R>): Promise<AdminAnswer<R>> => {
    if (!mail.link) throw new Refusal('link_off', 'this mailbox can have no link')
    return mail.link.administer(route, request)
  }

export const LINK_ROUTES: Routes = {
  'link/setup': to('link/setup'),
  'link/status': to('link/status'),
  'link/off': to('link/off'),
  'link/peer/add': to('link/peer/add'),
  'link/peer/allow': to('link/peer/allow'),
  'link/peer/rotate': to('link/peer/rotate'),
  'link/peer/remove': to('link/peer/remove'),
  'link/bind': to('link/bind'),
  'link/verify/start': to('link/verify/start'),
  'link/verify/list': to('link/verify/list'),
  'link/verify/answer': to('link/verify/answer'),
  'link/peer/pending': to('link/peer/pending'),
}
