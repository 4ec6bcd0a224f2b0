// Can callers be proved here? The self-test in this process, and the mailbox's own.
import { openAttestor } from '../../attest/attestor.ts'
import type { Checkup } from './checkup.ts'
import { type Found, fail, fine } from './finding.ts'

export async function attestation({ call, presence }: Checkup): Promise<Found> {
  const attestor = openAttestor()
  try {
    const [here, { health }] = await Promise.all([attestor.selfTest(), presence()])
    const facts = { here, mailbox: health?.attestation ?? null }
    if (!here.ok)
      return fail(
        `a connection to ourselves cannot be proved: ${here.reason}`,
        'run it on the machine itself, outside of sandboxes that hide /proc or sockets',
        facts,
      )
    if (health !== null && !health.attestation.ok)
      return fail(
        `the mailbox cannot prove its callers: ${health.attestation.reason ?? 'no reason given'}`,
        `stop it and start it where it can look at its callers: ${call} serve`,
        facts,
      )
    return fine(`callers are proved by the kernel${health === null ? '' : ', here and at the mailbox'}`, facts)
  } finally {
    attestor.close()
  }
}
