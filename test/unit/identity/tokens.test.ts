// A bearer header names one account, or it is refused without a hint at why.
import { expect, test } from 'bun:test'
import { digestOf, newSecret } from '../../../src/engine/admin/secret.ts'
import { accountsOf } from '../../../src/identity/tokens.ts'
import { openStore } from '../../../src/store/open.ts'

test('the token names the account, whatever the case of the scheme', async () => {
  const store = await openStore(':memory:')
  try {
    const secret = newSecret()
    const can = { send: true, read: true, dispatch: false, behalf: false, operator: false }
    await store.addAccount({ name: 'claude', label: null, kind: 'agent', can, digest: digestOf(secret) })
    const accountOf = accountsOf(store.registry)
    for (const header of [`Bearer ${secret}`, `bearer ${secret}`, `BEARER   ${secret} `, `Bearer ${secret}`])
      expect(accountOf(header).name).toBe('claude')
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
      const attempt = () => accountOf(header)
      expect(attempt).toThrow(expect.objectContaining({ kind: 'unauthenticated', facts: {} }))
      expect(attempt).not.toThrow(secret)
    }
  } finally {
    await store.close()
  }
})

test('a header that is known is only good for the account as it is now', async () => {
  const store = await openStore(':memory:')
  try {
    const accountOf = accountsOf(store.registry)
    const can = { send: true, read: true, dispatch: false, behalf: false, operator: false }
    const [first, second] = [newSecret(), newSecret()]
    const [before, after] = [`Bearer ${first}`, `Bearer ${second}`]
    const added = await store.addAccount({ name: 'claude', label: null, kind: 'agent', can, digest: digestOf(first) })
    expect(accountOf(before)).toBe(added)
    const poorer = await store.changeAccount(added, { can: { send: false } })
    expect(accountOf(before)).toBe(poorer)
    const rotated = await store.changeAccount(poorer, { digest: digestOf(second) })
    expect(() => accountOf(before)).toThrow(expect.objectContaining({ kind: 'unauthenticated' }))
    expect(accountOf(after)).toBe(rotated)
    await store.removeAccount(rotated)
    expect(() => accountOf(after)).toThrow(expect.objectContaining({ kind: 'unauthenticated' }))
    const heir = await store.addAccount({ name: 'heir', label: null, kind: 'agent', can, digest: digestOf(second) })
    expect(accountOf(after)).toBe(heir)
    // however many spellings are remembered, each is right
    for (let spaces = 1; spaces < 1_100; spaces++) expect(accountOf(`Bearer${' '.repeat(spaces)}${second}`)).toBe(heir)
    expect(accountOf(after)).toBe(heir)
  } finally {
    await store.close()
  }
})
