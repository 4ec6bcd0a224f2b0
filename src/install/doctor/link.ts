// Other machines: whether this mailbox is linked to any, and whether its device and every pin hold.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Refusal } from '../../wire/refusal.ts'
import { asOperator } from './callers.ts'
import type { Checkup } from './checkup.ts'
import { type Found, fail, fine, warn } from './finding.ts'

export async function link(checkup: Checkup): Promise<Found | Found[]> {
  if (!existsSync(join(checkup.dataDir, 'link', 'vault.json'))) return fine('off', { linked: false })
  const { call } = checkup
  const { health } = await checkup.presence()
  const status = health === null ? null : await asOperator(checkup, (mailbox) => mailbox.admin('link/status', {}))
  if (status === null || status instanceof Refusal)
    return warn('is set up; the mailbox could not be asked about it', `${call} link status`)
  const facts = { linked: true, state: status.state, peers: status.peers.length }
  if (status.identity === null) return fail(status.reason ?? 'is down', `${call} link status`, facts)
  if (status.state === 'down')
    return warn(`the homeserver does not answer: ${status.reason}`, `${call} link status`, facts)
  const alarms = status.peers.filter(({ state }) => state === 'alarm')
  if (alarms.length === 0) return fine(`on, as ${status.identity.user}; ${status.peers.length} pinned`, facts)
  return alarms.map(({ name, reason }) => ({
    ...fail(reason ?? 'its pin does not hold', `${call} link peer pending`, facts),
    of: name,
  }))
}
