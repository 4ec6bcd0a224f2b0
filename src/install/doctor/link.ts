// Other machines: whether this mailbox is linked to any, and whether its device and every pin hold.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Checkup } from './checkup.ts'
import { type Found, fail, fine, warn } from './finding.ts'

export async function link(checkup: Checkup): Promise<Found | Found[]> {
  if (!existsSync(join(checkup.dataDir, 'link', 'vault.json'))) return fine('off', { linked: false })
  const { call } = checkup
  const token = checkup.token('operator')
  const presence = await checkup.presence()
  if (token === null || presence.health === null)
    return warn('is set up; the mailbox cannot be asked about it', `${call} link status`)
  const client = checkup.open(token)
  try {
    const status = await client.admin('link/status', {})
    const facts = { linked: true, state: status.state, peers: status.peers.length }
    if (status.identity === null) return fail(status.reason ?? 'is down', `${call} link status`, facts)
    if (status.state === 'down')
      return warn(`the homeserver does not answer: ${status.reason}`, `${call} link status`, facts)
    const alarms = status.peers.filter(({ state }) => state === 'alarm')
    if (alarms.length > 0)
      return alarms.map(({ name, reason }) => ({
        ...fail(reason ?? 'its pin does not hold', `${call} link peer pending`, facts),
        of: name,
      }))
    return fine(`on, as ${status.identity.user}; ${status.peers.length} peers`, facts)
  } finally {
    client.close()
  }
}
