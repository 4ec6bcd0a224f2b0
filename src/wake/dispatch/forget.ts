// What attempts printed is kept for a while, and then removed; what is known of them in the store stays.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '../../store/store.ts'

const KEPT_MS = 30 * 86_400_000

/** Removes the folders of dispatches that ended longer ago than that. */
export function forgetOld(store: Store, dataDir: string, now: number): void {
  const root = join(dataDir, 'dispatch')
  if (!existsSync(root)) return
  for (const name of readdirSync(root)) {
    const row = /^\d+$/.test(name) ? store.dispatches.get(Number(name)) : null
    if (row?.ended != null && now - row.ended > KEPT_MS) rmSync(join(root, name), { recursive: true, force: true })
  }
}
