// What keeps the mailbox running: a service of the system, a process in the background, or a person who started it.
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
  if (changes.length > 0) {
    const what = changes.map((change) => change.path ?? change.what).join(', ')
    return warn(`the service is not what was installed: ${what}`, `${call} down && ${call} up`, facts)
  }
  if (await step.isActive(target)) return fine('installed and active', facts)
  // that nothing runs is said elsewhere
  if (health === null) return fine('installed, not active', facts)
  return warn('installed, but a mailbox that somebody started by hand runs in its place', `${call} up`, facts)
}
