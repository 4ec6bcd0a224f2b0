// The start-up self-test, which decides whether anybody is served at all.
import { expect, spyOn, test } from 'bun:test'
import { openAttestor } from '../../../src/attest/attestor.ts'
import { refuseAll } from '../../../src/attest/none.ts'
import { retest } from '../../../src/attest/retest.ts'
import { type SelfTestResult, selfTest } from '../../../src/attest/self-test.ts'
import { onLinux, until } from './support.ts'

test.if(onLinux)('passes here', async () => {
  const attestor = openAttestor()
  expect(await attestor.selfTest()).toEqual({ ok: true })
  attestor.close()
  expect(await attestor.selfTest()).toMatchObject({ ok: false })
})

test('fails by name where nobody is named, or somebody else', async () => {
  expect(await selfTest(refuseAll('none'))).toMatchObject({ ok: false, reason: expect.stringContaining('unsupported') })
})

test('one that failed is repeated until it passes, and no longer', async () => {
  const results: SelfTestResult[] = [{ ok: false, reason: 'one' }, { ok: false, reason: 'two' }, { ok: true }]
  const heard: SelfTestResult[] = []
  let asked = 0
  retest(
    async () => results[asked++] ?? { ok: true },
    2,
    (result) => heard.push(result),
  )
  await until(() => heard.length === 3)
  await Bun.sleep(20)
  expect(heard).toEqual(results)
  expect(asked).toBe(3)
})

test('stopped, it neither asks again nor tells what it was asking', async () => {
  const heard: SelfTestResult[] = []
  const { promise, resolve } = Promise.withResolvers<SelfTestResult>()
  let asked = 0
  const test = () => {
    asked++
    return promise
  }
  const stop = retest(test, 1, (result) => heard.push(result))
  await until(() => asked === 1)
  stop()
  resolve({ ok: false, reason: 'late' })
  await Bun.sleep(20)
  expect([asked, heard.length]).toEqual([1, 0])
})

test('no door to be had is a failed test, not a fault', async () => {
  const serve = spyOn(Bun, 'serve').mockImplementation(() => {
    throw new Error('EMFILE')
  })
  expect(await selfTest(refuseAll('none'))).toEqual({ ok: false, reason: 'EMFILE' })
  serve.mockRestore()
})
