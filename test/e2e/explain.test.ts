// `whoami --explain`: the evidence of a real caller, from the connection to the session.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { WhoamiAnswer } from '../../src/wire/answers.ts'
import { CliWorld } from './support/cli-world.ts'

type Explained = WhoamiAnswer & { token_from: string }

let world: CliWorld
beforeAll(async () => {
  world = new CliWorld()
  await world.serve()
  await world.run(['admin', 'account', 'add', 'claude'])
})
afterAll(() => world[Symbol.asyncDispose]())

async function asked(ran: ReturnType<CliWorld['run']>) {
  const { code, out, err } = await ran
  expect([code, err]).toEqual([0, ''])
  const { explain, ...answer }: Explained = JSON.parse(out)
  if (explain === undefined) throw new Error('nothing was explained')
  return { explain, answer }
}

test("a command in an agent's shell: the agent above stands for it", async () => {
  const { explain, answer } = await asked(world.asAgent('m4a --json whoami --explain'))
  const { process: caller, ancestors, anchor, session, account } = explain
  expect(explain.connection).toMatchObject({ over: 'unix', name: expect.stringMatching(/^unix\/[0-9a-f]+$/) })
  expect(caller).toMatchObject({ exe: expect.stringMatching(/mail4agent$/), agent: null, session: null })
  expect(ancestors[0]).toMatchObject({ exe: world.agent, agent: 'claude (exe)', session: answer.address_text })
  expect(ancestors.some(({ pid }) => pid === process.pid)).toBe(true)
  const starts = [caller, ...ancestors].map(({ started_at_unix_ms }) => started_at_unix_ms)
  expect(starts).toEqual(starts.toSorted((a, b) => b - a))
  expect(Math.abs(caller.started_at_unix_ms - Date.now())).toBeLessThan(20_000)
  expect(anchor).toMatchObject({ rule: 'agent_above', process: { pid: ancestors[0]?.pid } })
  expect(account.id).toBe('claude')
  expect(answer.token_from).toBe('the agent above')
  expect(answer.address_text).toBe(`claude/${session.id}`)
  expect(Object.fromEntries(session.made_of.map(({ name, value }) => [name, value]))).toMatchObject({
    boot: expect.stringMatching(/^[0-9a-f-]{36}$/),
    pid: String(ancestors[0]?.pid),
    start: expect.stringMatching(/^\d+$/),
    conversation: null,
  })
  expect(explain.facts).toContainEqual({ name: 'provider', value: 'claude', source: 'proc' })
  expect(explain.facts).toContainEqual({ name: 'cwd', value: world.home, source: 'proc' })
})

test('no argument and no environment of anybody is shown, and no token', async () => {
  const secret = 'do-not-show-me'
  const shell = await world.asAgent(`export SECRET=${secret}; m4a whoami --explain --as claude; : ${secret}`)
  expect(shell.out).toContain('4 by the rule')
  expect(shell.out).toContain('--as')
  expect(shell.out).not.toContain(secret)
  expect(shell.out).not.toMatch(/m4a_[0-9a-f]{32}|[0-9a-f]{64}/)
})

test('without an agent above: the rule says whose session it is', async () => {
  const { explain, answer } = await asked(world.run(['--json', 'whoami', '--explain', '--as', 'operator']))
  expect(['itself', 'terminal']).toContain(explain.anchor.rule)
  expect(answer.token_from).toBe('--as')
})

test('it is said only when asked', async () => {
  const { out } = await world.run(['--json', 'whoami', '--as', 'operator'])
  expect(JSON.parse(out)).not.toHaveProperty('explain')
})

test('a refusal says what was seen', async () => {
  const { code, err } = await world.asAgent('m4a --json whoami --as operator')
  expect(code).toBe(1)
  const refused = JSON.parse(err)
  expect(refused).toMatchObject({ kind: 'agent_ancestor', agent: 'claude', seen: { pid: expect.any(Number) } })
  expect(refused.seen.agent_pid).not.toBe(refused.seen.pid)
  const text = await world.asAgent('m4a whoami --as operator')
  expect(text.err).toMatch(/^seen: pid \d+, agent_pid \d+$/m)
})
