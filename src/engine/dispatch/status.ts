// dispatch_status: what was asked for and what became of it, newest first, and how the agents stand.
import type { DispatchStatusAnswer, DispatchStatusRequest } from '../../wire/dispatch.ts'
import { canonical } from '../../wire/names.ts'
import { rfc3339 } from '../../wire/time.ts'
import type { Caller, Mail } from '../mail.ts'
import { dispatchView } from './view.ts'

const PAGE = 20

export function dispatchStatus(mail: Mail, caller: Caller, request: DispatchStatusRequest): DispatchStatusAnswer {
  const { dispatches, registry } = mail.store
  const limit = request.limit ?? PAGE
  const whose = caller.account.can.operator ? null : caller.account.id
  const rows = dispatches.list(whose, request.failed ?? false, request.before ?? Number.MAX_SAFE_INTEGER, limit + 1)
  const open = dispatches.open()
  const count = (agent: number, running: boolean) =>
    open.filter((row) => row.agent === agent && (row.state !== 'queued') === running).length
  const agents = dispatches.agents().flatMap(({ account, profile, paused }) => {
    const name = registry.accountById(account)?.name
    if (name === undefined) return []
    const numbers = { queued: count(account, false), running: count(account, true) }
    return [{ id: name, provider: profile.provider, paused, ...numbers }]
  })
  return {
    paused: dispatches.pause?.reason ?? null,
    agents: agents.sort((a, b) => (canonical(a.id) < canonical(b.id) ? -1 : 1)),
    dispatches: rows.slice(0, limit).map((row) => dispatchView(mail, caller, row)),
    has_more: rows.length > limit,
    now: rfc3339(mail.now()),
  }
}
