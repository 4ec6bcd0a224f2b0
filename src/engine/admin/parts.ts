// The parts of the mailbox that may be switched off, as an operator is shown them.
import type { OverviewAnswer, Part } from '../../wire/overview.ts'
import type { Mail } from '../mail.ts'

const OFF: Part = { state: 'off', note: null }

export const parts = (mail: Mail): OverviewAnswer['parts'] => ({ wake: OFF, dispatch: dispatchPart(mail), link: OFF })

/** Off where nobody can be started, or is just now; what runs and waits is said all the same. */
function dispatchPart({ store: { dispatches }, runs, now }: Mail): Part {
  const agents = dispatches.agents()
  if (agents.length === 0) return OFF
  if (runs.unavailable !== null) return { state: 'trouble', note: runs.unavailable }
  const open = dispatches.open()
  const waiting = open.filter(({ state }) => state === 'queued').length
  const running = open.length - waiting
  const failed = dispatches.failedToday(now())
  const paused = agents.filter((agent) => agent.paused !== null).length
  const notes = [
    ...(dispatches.pause === null ? [] : [`paused: ${dispatches.pause.reason}`]),
    ...(running > 0 ? [`${running} running`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
    ...(failed > 0 ? [`${failed} failed today`] : []),
    ...(paused > 0 ? [`${paused} of ${agents.length} agents paused`] : []),
  ]
  return { state: dispatches.pause === null ? 'on' : 'off', note: notes.length === 0 ? null : notes.join(', ') }
}
