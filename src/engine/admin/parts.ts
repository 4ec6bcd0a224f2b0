// The parts of the mailbox that may be switched off, as an operator is shown them.
import type { OverviewAnswer, Part } from '../../wire/overview.ts'
import type { Mail } from '../mail.ts'
import { ownerOfBox, stillFails } from '../wake/failing.ts'

const OFF: Part = { state: 'off', note: null }

export const parts = async (mail: Mail): Promise<OverviewAnswer['parts']> => ({
  wake: wakePart(mail),
  dispatch: dispatchPart(mail),
  link: await linkPart(mail),
})

/** Accounts that a note names. */
const NAMED = 3

/** Off where nobody can be woken, or nobody is to be. */
function wakePart(mail: Mail): Part {
  const { store, wakes } = mail
  if (wakes.doors.length === 0 || wakes.silent) return OFF
  const failing = store.wakes.failed().filter((row) => stillFails(mail, row))
  const names = [...new Set(failing.flatMap(({ box }) => ownerOfBox(store, box)?.name ?? []))]
  const others = names.length - NAMED
  const due = store.wakes.dues().filter(({ box }) => wakes.due(box) > 0).length
  const notes = [
    ...(names.length > 0
      ? [`could not wake ${names.slice(0, NAMED).join(', ')}${others > 0 ? ` and ${others} more` : ''}`]
      : []),
    ...(due > 0 ? [`${due} mailbox${due === 1 ? ' has' : 'es have'} letters that have woken nobody`] : []),
  ]
  return { state: names.length > 0 ? 'trouble' : 'on', note: notes.length === 0 ? null : notes.join('; ') }
}

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

/** In trouble where it is down, where a key has changed, or mail was kept apart: each needs a person. */
async function linkPart({ link }: Mail): Promise<Part> {
  const status = (await link?.status()) ?? null
  if (status === null || status.state === 'off') return OFF
  if (status.state === 'down') return { state: 'trouble', note: status.reason }
  const { peers, quarantined } = status
  const alarmed = peers.filter(({ state }) => state === 'alarm').map(({ name }) => name)
  const waiting = peers.reduce((sum, { queued }) => sum + queued, 0)
  const notes = [
    `${peers.length} machine${peers.length === 1 ? '' : 's'}`,
    ...(alarmed.length > 0 ? [`the key of ${alarmed.join(', ')} has changed`] : []),
    ...(quarantined.length > 0 ? [`${quarantined.length} kept apart`] : []),
    ...(waiting > 0 ? [`${waiting} waiting to be sent`] : []),
  ]
  return { state: alarmed.length > 0 ? 'trouble' : 'on', note: notes.join(', ') }
}
