// The health of the mailbox as lines for people.
import type { Health } from '../client/client.ts'
import { clockAndAge } from './times.ts'

export function healthFacts(health: Health): [string, string | null][] {
  const { attestation, store } = health
  const failed = health.notifications?.failed ?? 0 // an older mailbox does not say
  return [
    ['mailbox', `mail4agent ${health.version}, ${health.ok ? 'well' : 'not well'}`],
    [
      'started',
      clockAndAge(
        health.started_at,
        new Date(Date.parse(health.started_at) + health.uptime_secs * 1_000).toISOString(),
      ),
    ],
    ['listens on', health.listening.join(', ')],
    ...health.unavailable.map(({ address, reason }): [string, string] => ['not on', `${address}: ${reason}`]),
    ['store', store?.ok === false ? `cannot be written: ${store.reason ?? 'no reason given'}` : null],
    [
      'callers',
      attestation.ok
        ? 'proved by the kernel'
        : `cannot be proved, so mail is refused: ${attestation.reason ?? 'no reason given'}`,
    ],
    ['notifications', failed > 0 ? `${failed} not shown since the start: mail4agent notify status` : null],
  ]
}
