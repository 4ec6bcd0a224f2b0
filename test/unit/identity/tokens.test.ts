// A bearer header names one account, or it is refused without a hint at why.
import { expect, test } from 'bun:test'
import { digestOf, newSecret } from '../../../src/engine/admin/secret.ts'
import { accountOf } from '../../../src/identity/tokens.ts'
import { openStore } from '../../../src/store/open.ts'

test('the token names the account, whatever the case of the scheme', async () => {
  const store = await openStore(':memory:')
  try {
    const secret = newSecret()
    const can = { send: true, read: true, dispatch: false, behalf: false, operator: false }
    await store.addAccount({ name: 'claude', label: null, kind: 'agent', can, digest: digestOf(secret) })
    for (const header of [`Bearer ${secret}`, `bearer ${secret}`, `BEARER   ${secret} `])
      expect(accountOf(store.registry, header).name).toBe('claude')
    for (const header of [
      null,
      '',
      'Bearer',
      'Bearer ',
      secret,
      `Basic ${secret}`,
      `Bearer ${secret.toUpperCase()}`,
      `Bearer ${secret} x`,
      `Bearer ${digestOf(secret)}`,
      `Bearer ${'x'.repeat(4096)}`,
    ]) {
      const attempt = () => accountOf(store.registry, header)
      expect(attempt).toThrow(expect.objectContaining({ kind: 'unauthenticated', facts: {} }))
      expect(attempt).not.toThrow(secret)
    }
  } finally {
    await store.close()
  }
})
