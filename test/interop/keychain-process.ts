// A vault whose key the keychain holds, in a process of its own: the session bus is found by the environment.
import { holderOf, Vault } from '../../src/link/vault/vault.ts'
import { Refusal } from '../../src/wire/refusal.ts'

const [, , folder = '', order = ''] = process.argv

function obey(): string {
  if (order === 'make') {
    Vault.make(folder, {}, holderOf('keychain'), { a: 'xyzzy' })
    return 'made'
  }
  const vault = Vault.open(folder, {})
  if (order === 'to file') vault.rekey('file')
  if (order === 'to keychain') vault.rekey('keychain')
  return order === 'open' ? (vault.get('a') ?? '') : vault.holder.kind
}

try {
  process.stdout.write(obey())
} catch (error) {
  process.stdout.write(error instanceof Refusal ? error.kind : String(error))
}
