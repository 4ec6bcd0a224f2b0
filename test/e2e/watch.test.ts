// watch over kills and restarts of the mailbox: every letter once, in order. wait for an answer, a sender, a thread, for scripts.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { BINARY, Mailbox } from './support/mailbox.ts'

setDefaultTimeout(120_000)

let mailbox: Mailbox
let ann: string
let bob: string
beforeAll(async () => {
  mailbox = await Mailbox.start()
  ann = await mailbox.account('ann')
  bob = await mailbox.account('bob')
})
afterAll(() => mailbox[Symbol.asyncDispose]())

const spawn = (token: string, ...argv: string[]) =>
  Bun.spawn([BINARY, ...argv], {
    env: { PATH: '/usr/bin:/bin', HOME: mailbox.root, M4A_DATA_DIR: mailbox.data, M4A_TOKEN: token },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
async function run(token: string, ...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(token, ...argv)
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, out, err }
}
const send = async (token: string, request: object): Promise<string> => {
  for (;;) {
    const answer = await mailbox.post('/mail/send', token, { subject: 's', ...request }).catch(() => null)
    if (answer?.status === 200) return String(answer.body.message_id)
    await Bun.sleep(20)
  }
}

test('watch: no gap and nothing twice over four restarts, two of them kill -9', async () => {
  const before = await send(ann, { to: 'bob', body: 'before' })
  const watching = spawn(bob, 'watch', '--json')
  const shown: string[] = []
  const reading = (async () => {
    let rest = ''
    for await (const chunk of watching.stdout) {
      const lines = (rest + new TextDecoder().decode(chunk)).split('\n')
      rest = lines.pop() ?? ''
      shown.push(...lines.map((line): string => JSON.parse(line).message_id))
    }
  })()
  const sent = [before]
  let over = false
  const sending = (async () => {
    for (let i = 0; !over; i++)
      sent.push(await send(ann, { to: 'bob', body: `${i}`, idempotency_key: `w${i}` }).finally(() => Bun.sleep(2)))
  })()
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL', 'SIGTERM'] as const) {
    await Bun.sleep(400)
    await mailbox.down(signal)
    await mailbox.up()
  }
  await Bun.sleep(300)
  over = true
  await sending
  for (let tries = 0; shown.length < sent.length && tries < 200; tries++) await Bun.sleep(50)
  await Bun.sleep(200)
  watching.kill('SIGINT')
  expect(await watching.exited).toBe(130)
  await reading
  expect(shown).toEqual(sent)
  expect(sent.length).toBeGreaterThan(50)
  // nothing was opened or closed
  const { body } = await mailbox.post('/mail/inbox', bob, { state: 'opened' })
  expect(body.messages).toEqual([])
  await mailbox.post('/mail/close_all', bob, { written_by: 'ann' })
})

test('wait for an answer: also one that was there before, past other mail, and 4 when its time is over', async () => {
  const question = await send(ann, { to: 'bob', body: 'question' })
  const waiting = run(ann, 'wait', '--reply-to', question, '--json')
  await Bun.sleep(300)
  await send(bob, { to: 'ann', body: 'something else' })
  await Bun.sleep(200)
  const answer = await send(bob, { reply_to: question, to: 'ann', body: 'answer' })
  const came = await waiting
  expect([came.code, JSON.parse(came.out).messages.map((one: { message_id: string }) => one.message_id)]).toEqual([
    0,
    [answer],
  ])
  await mailbox.post('/mail/ack', ann, { message_id: answer })
  const again = await run(ann, 'wait', '--reply-to', question, '-t', '5')
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining(`mail4agent view ${answer}`) })
  expect(await run(ann, 'wait', '--reply-to', answer, '-t', '1')).toMatchObject({ code: 4, out: '' })
  expect((await run(ann, 'wait', '--reply-to', 'm4a_0123456789abcdef01234567')).code).toBe(1)
  expect((await run(ann, 'wait', '--timeout', 'soon')).code).toBe(2)
})

test('wait for a sender and for a thread', async () => {
  await mailbox.post('/mail/close_all', bob, { older_than_secs: 0 })
  const cleo = await mailbox.account('cleo')
  const first = await send(ann, { to: 'bob', body: 'thread' })
  await mailbox.post('/mail/ack', bob, { message_id: first })
  const waits = [run(bob, 'wait', '--from', 'cleo'), run(bob, 'wait', '--thread', first, '--from', 'ann')]
  await Bun.sleep(300)
  await send(ann, { to: 'bob', body: 'another thread' })
  const [ofCleo, inThread] = [
    await send(cleo, { to: 'bob', body: 'here' }),
    await send(ann, { reply_to: first, to: 'bob', body: 'goes on' }),
  ]
  const [sender, thread] = await Promise.all(waits)
  expect(sender?.out).toContain(ofCleo)
  expect(thread?.out).toContain(inThread)
  expect([sender?.code, thread?.code]).toEqual([0, 0])
})
