// The name of a session: a digest of the process instance behind it, and of the conversation where the client names one.
import type { Process } from '../attest/attestor.ts'
import type { InstanceKey } from '../store/rows.ts'

/** What the store keeps of the process behind a session. */
export const instanceKey = ({ boot, pidns, pid, start, pidfd }: Process): InstanceKey => ({
  boot,
  pidns,
  pid,
  start,
  pidfd,
})

const ABSENT = 0xffff_ffff

/**
 * `s-` and the first 128 bits of SHA-256 over boot id, pid namespace, pid, raw start time, pidfd inode and conversation key.
 * Each is preceded by its length (what is absent has a length of its own), so that no two lists of fields read alike.
 * No wall clock in it: a stepped clock must not rename a running session.
 */
export function sessionName(instance: InstanceKey, conversation: string | null): string {
  const hash = new Bun.CryptoHasher('sha256')
  const fields = [instance.boot, instance.pidns, String(instance.pid), instance.start, instance.pidfd, conversation]
  const length = Buffer.alloc(4)
  for (const field of fields) {
    length.writeUInt32LE(field === null ? ABSENT : Buffer.byteLength(field))
    hash.update(length)
    if (field !== null) hash.update(field)
  }
  return `s-${hash.digest('hex').slice(0, 32)}`
}
