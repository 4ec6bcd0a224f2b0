// The first start: an operator account, whose secret lies in operator.key. Later starts need neither.
import { createHash, randomBytes } from 'node:crypto'
import { lstatSync, readFileSync } from 'node:fs'
import type { Store } from '../store/store.ts'
import { writePrivate } from './folders.ts'

const SECRET = /^[0-9a-f]{64}$/

/**
 * Makes the account `operator` in a store that has no operator at all. The key file is written before the account is, and
 * used again if a crash left it without one. Resolves to whether it was made now.
 */
export async function ensureOperator(store: Store, keyPath: string): Promise<boolean> {
  if (store.registry.accounts().some((account) => account.can.operator)) return false
  const secret = leftBehind(keyPath) ?? randomBytes(32).toString('hex')
  writePrivate(keyPath, secret)
  await store.addAccount({
    name: 'operator',
    label: null,
    kind: 'person',
    can: { send: true, read: true, dispatch: true, behalf: false, operator: true },
    digest: createHash('sha256').update(secret).digest('hex'),
  })
  return true
}

/** The secret of a key file that nobody else could read; no account depends on any other. */
function leftBehind(path: string): string | null {
  try {
    const { mode, uid } = lstatSync(path)
    if ((mode & 0o77) !== 0 || uid !== process.getuid?.()) return null
    const secret = readFileSync(path, 'utf8').trim()
    return SECRET.test(secret) ? secret : null
  } catch {
    return null
  }
}
