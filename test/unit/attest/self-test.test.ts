// The start-up self-test, which decides whether anybody is served at all.
import { expect, test } from 'bun:test'
import { openAttestor } from '../../../src/attest/attestor.ts'
import { refuseAll } from '../../../src/attest/none.ts'
import { selfTest } from '../../../src/attest/self-test.ts'
import { onLinux } from './support.ts'

test.if(onLinux)('passes here', async () => {
  const attestor = openAttestor()
  expect(await attestor.selfTest()).toEqual({ ok: true })
  attestor.close()
  expect(await attestor.selfTest()).toMatchObject({ ok: false })
})

test('fails by name where nobody is named, or somebody else', async () => {
  expect(await selfTest(refuseAll('none'))).toMatchObject({ ok: false, reason: expect.stringContaining('unsupported') })
})
