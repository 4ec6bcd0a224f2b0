// What keeps the mailbox running: a service of the system, a process in the background, or a person who started it.
import type { ServiceState } from '../service-step.ts'
import type { Checkup } from './checkup.ts'
import { type Found, fine, warn } from './finding.ts'

export async function service(checkup: Checkup): Promise<Found> {
  const { call } = checkup
  const { background, service: installed } = checkup.record()
  const { health } = await checkup.presence()
  const { step, target } = checkup.service()
  const changes = step === null ? null : await step.plan(target)
  const facts = { manager: changes !== null, installed, background }
  if (step === null || changes === null) {
    if (installed) return warn('the service was installed, and its manager is gone', `${call} up`, facts)
    if (background === null) return fine('no service manager here; the mailbox is started by hand', facts)
    return fine('no service manager here; up starts the mailbox in the background', facts)
  }
  if (!installed) return fine('not installed', facts)
  const state = await step.state(target)
  const all = { ...facts, state }
  if (!state.installed) return warn(`${state.name} was installed, and somebody has removed it`, `${call} up`, all)
  if (!state.active) return stopped(call, state, health !== null, all)
  if (changes.length > 0) {
    const what = changes.map((change) => change.path ?? change.what).join(', ')
    return warn(`the service is not what was installed: ${what}`, `${call} down && ${call} up`, all)
  }
  const again = state.restarts ? `, started again ${state.restarts} ${state.restarts === 1 ? 'time' : 'times'}` : ''
  return fine(`installed and active${again}`, all)
}

/** `elsewhere`: a mailbox answers all the same. */
function stopped(
  call: string,
  { name, state, reason }: ServiceState,
  elsewhere: boolean,
  facts: Found['facts'],
): Found {
  const why = reason === null ? '' : `: ${reason}`
  if (elsewhere)
    return warn(
      `${name} is ${state}${why}; a mailbox that somebody started by hand runs in its place`,
      `stop that one, then: ${call} service start`,
      facts,
    )
  if (reason !== null)
    return warn(
      `${name} is ${state}${why}`,
      `mend that, then: ${call} service start; its log: ${call} service logs`,
      facts,
    )
  // that nothing runs is said elsewhere
  return fine('installed, not active', facts)
}
