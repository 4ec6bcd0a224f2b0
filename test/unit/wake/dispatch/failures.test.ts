// How an agent may fail: each way gets its class, is tried again only where that helps, is told on the thread with evidence,
// and leaves no process behind.
import { expect, test } from 'bun:test'
import { notes, Workshop } from './workshop.ts'

const open = () => Workshop.open({ STAND_IN_TOKEN: 'a-secret-of-the-environment' })
const causes = (attempts: readonly { cause: string | null }[]) => attempts.map(({ cause }) => cause)

test.concurrent('an answer settles it: one attempt, no letter from the mailbox', async () => {
  await using shop = await open()
  const cwd = await shop.agent('ada', ['reply'])
  const { dispatch, attempts, letter } = await shop.through('ada')
  expect(dispatch).toMatchObject({ outcome: 'replied', attempts: 1, bounce: null, depth: 1 })
  expect(attempts).toMatchObject([{ cause: 'replied', exit: 0, mode: 'fresh', forced: false, leftover: 0 }])
  expect(letter).toBe(`done by ${attempts[0]?.run}`)
  expect(notes(cwd, 'begin')).toHaveLength(1)
  expect(shop.left(attempts)).toEqual([])
})

test.concurrent('who ends silently is asked again in its session, twice, then anew, and then given up', async () => {
  await using shop = await open()
  const cwd = await shop.agent('ada', ['silent'])
  const { dispatch, attempts, letter } = await shop.through('ada')
  expect(dispatch).toMatchObject({ outcome: 'silent', state: 'done' })
  expect(attempts).toMatchObject([
    { mode: 'fresh', cause: 'silent', session: 'session-of-the-agent', turns: 2, cost_usd: 0.25, tokens: 40 },
    { mode: 'resume', cause: 'silent', session: 'session-of-the-agent' },
    { mode: 'fresh', cause: 'silent' },
  ])
  expect(letter).toStartWith(
    `Dispatch ${dispatch.id} to ada ended without an answer: it ended in order and did not answer.\n`,
  )
  expect(letter).toContain('attempt 2 (resume) ended in order without an answer (exit 0')
  expect(notes(cwd, 'begin')).toHaveLength(3)
})

test.concurrent('who answers at the second attempt has answered', async () => {
  await using shop = await open()
  await shop.agent('ada', ['crash', 'reply'])
  const { dispatch, attempts } = await shop.through('ada')
  expect(dispatch.outcome).toBe('replied')
  expect(causes(attempts)).toEqual(['crashed', 'replied'])
})

test.concurrent('a crash is told with its exit and the end of its output, without secrets', async () => {
  await using shop = await open()
  await shop.agent('ada', ['crash'], { env: ['STAND_IN_TOKEN'] })
  const { dispatch, attempts, letter } = await shop.through('ada')
  expect(dispatch.outcome).toBe('failed')
  expect(causes(attempts)).toEqual(['crashed', 'crashed', 'crashed'])
  expect(letter).toContain('attempt 3 (fresh) crashed (exit 3')
  expect(letter).toContain('> it broke with [secret] and [secret]')
  expect(JSON.stringify(attempts)).not.toContain('a-secret-of-the-environment')
})

test.concurrent('a signal is a crash', async () => {
  await using shop = await open()
  await shop.agent('ada', ['killed'], { attempts: 1 })
  expect((await shop.through('ada')).attempts).toMatchObject([{ cause: 'crashed', signal: 'SIGSEGV', exit: null }])
})

test.concurrent('a wrong setting is not tried again', async () => {
  await using shop = await open()
  await shop.agent('ada', ['misconfigured'])
  expect(causes((await shop.through('ada')).attempts)).toEqual(['misconfigured'])
})

test.concurrent.each(['limited', 'limitedBySpeech'])('a rate limit (%s) is waited out', async (how) => {
  await using shop = await open()
  await shop.agent('ada', [how, how, 'reply'])
  const { dispatch, attempts } = await shop.through('ada')
  expect(causes(attempts)).toEqual(['rate_limited', 'rate_limited', 'replied'])
  expect(dispatch.outcome).toBe('replied')
})

test.concurrent('a session that is gone is left at once for a new one', async () => {
  await using shop = await open()
  await shop.agent('ada', ['silent', 'lost', 'reply'])
  const { attempts } = await shop.through('ada')
  expect(attempts).toMatchObject([
    { cause: 'silent' },
    { cause: 'session_lost', mode: 'resume' },
    { cause: 'replied', mode: 'fresh' },
  ])
})

test.concurrent('no sign of life at the start', async () => {
  await using shop = await open()
  await shop.agent('ada', ['hangAtStart', 'reply'], { startup_secs: 3 })
  const { attempts } = await shop.through('ada')
  expect(attempts).toMatchObject([{ cause: 'hung_at_start', healthy_at: null, forced: false }, { cause: 'replied' }])
  expect(shop.left(attempts)).toEqual([])
})

test.concurrent('no sign of life later on', async () => {
  await using shop = await open()
  await shop.agent('ada', ['hang'], { stall_secs: 1, attempts: 1 })
  const { dispatch, attempts, letter } = await shop.through('ada')
  expect(attempts).toMatchObject([{ cause: 'hung', detail: 'nothing more for 1 s, and no tool at work' }])
  expect(dispatch).toMatchObject({ outcome: 'failed' })
  expect(letter).toContain('> started')
  expect(shop.left(attempts)).toEqual([])
})

test.concurrent('who ignores SIGTERM is killed', async () => {
  await using shop = await open()
  const cwd = await shop.agent('ada', ['stubborn'], { stall_secs: 1, attempts: 1 })
  const { attempts, letter } = await shop.through('ada')
  expect(attempts).toMatchObject([{ cause: 'hung', forced: true, signal: 'SIGKILL' }])
  expect(letter).toContain('SIGTERM did not end it')
  expect(notes(cwd, 'ignored').length).toBeGreaterThan(0)
  expect(shop.left(attempts)).toEqual([])
})

test.concurrent('too long is too long, and is not begun again', async () => {
  await using shop = await open()
  await shop.agent('ada', ['hang'], { attempt_secs: 1 })
  const { dispatch, attempts } = await shop.through('ada')
  expect(causes(attempts)).toEqual(['timed_out'])
  expect(dispatch.outcome).toBe('timed_out')
})

test.concurrent.each([
  ['children', 'left_children', 'silent'],
  ['childrenReply', 'replied', 'replied'],
])('children that left its group, its session and its environment are ended (%s)', async (how, cause, outcome) => {
  await using shop = await open()
  await shop.agent('ada', [how], { attempts: 1 })
  const { dispatch, attempts } = await shop.through('ada')
  expect(attempts).toMatchObject([{ cause }])
  expect(attempts[0]?.leftover).toBeGreaterThanOrEqual(2)
  expect(dispatch.outcome).toBe(outcome)
  expect(shop.left(attempts)).toEqual([])
})

test.concurrent('who closes the letter without a word has closed it, and the dispatcher is told', async () => {
  await using shop = await open()
  await shop.agent('ada', ['close'])
  const { dispatch, attempts, letter } = await shop.through('ada')
  expect(causes(attempts)).toEqual(['closed'])
  expect(dispatch.outcome).toBe('closed')
  expect(letter).toStartWith(`Dispatch ${dispatch.id} to ada was closed without an answer.`)
})

test.concurrent('a folder or a program that is gone is said before anything is started', async () => {
  await using shop = await open()
  await shop.agent('ada', ['reply'], { program: '/nonexistent/program' })
  const { attempts } = await shop.through('ada')
  expect(attempts).toMatchObject([{ cause: 'misconfigured', pid: null }])
  expect(attempts[0]?.detail).toContain('/nonexistent/program')
})

test.concurrent('stopped while it runs: its processes end, its dispatcher is told', async () => {
  await using shop = await open()
  await shop.agent('ada', ['hang'])
  const sent = await shop.dispatch('ada')
  const id = sent.dispatch?.id ?? 0
  while ((await shop.show(id)).dispatch.activity !== 'working') await Bun.sleep(20)
  await shop.world.call(shop.person, 'dispatch_stop', { id, reason: 'the wrong one' })
  const { dispatch, attempts } = await shop.done(id)
  expect(dispatch).toMatchObject({ outcome: 'stopped', reason: 'pat stopped it: the wrong one' })
  expect(causes(attempts)).toEqual(['stopped'])
  expect(shop.left(attempts)).toEqual([])
})
