// A look through the whole store while it runs: is it whole, which schema is it of, do letters lie in the future.
import { diskRefusal } from '../../store/disk.ts'
import type { AdminAnswer } from '../../wire/admin.ts'
import { Refusal } from '../../wire/refusal.ts'
import { rfc3339 } from '../../wire/time.ts'
import type { Mail } from '../mail.ts'

/** @throws Refusal `damaged_store` when it cannot be read, `store_unavailable` and `bad_permissions` for a fault of the disk */
export async function check(mail: Mail): Promise<AdminAnswer<'check'>> {
  try {
    const { future, ...report } = await mail.store.inspect()
    return { ...report, future: future && { count: future.count, latest: rfc3339(future.latest) } }
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown'
    throw diskRefusal(error, mail.dataDir) ?? new Refusal('damaged_store', `the store cannot be read: ${reason}`)
  }
}
