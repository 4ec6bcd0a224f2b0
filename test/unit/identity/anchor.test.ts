// The walk upwards: whose session a one-shot caller acts in, over made-up trees.
import { expect, test } from 'bun:test'
import type { Process } from '../../../src/attest/attestor.ts'
import { accountsAlready, anchorOf } from '../../../src/identity/anchor.ts'
import { process } from './processes.ts'

const A = 1
const B = 2
const agent = (facts: Partial<Process> = {}) => process({ comm: 'claude', ...facts })

/** `sessions`: which processes have sessions of which accounts. */
const anchor = (caller: Process, ancestors: Process[], account: number, sessions: [Process, number[]][] = []) =>
  decided(caller, ancestors, account, sessions).process

const decided = (caller: Process, ancestors: Process[], account: number, sessions: [Process, number[]][] = []) =>
  anchorOf(caller, ancestors, account, {
    accounts: (one) => new Set(sessions.find(([who]) => who === one)?.[1] ?? []),
    isAgent: (one) => one.comm === 'claude',
  })

const init = process({ pid: 1, uid: 0, comm: 'init' })
const curl = process({ comm: 'curl' })
const shell = process()

test('the nearest agent above', () => {
  const [inner, outer] = [agent(), agent()]
  expect(anchor(curl, [shell, inner, shell, outer, init], A)).toBe(inner)
  expect(anchor(curl, [shell, inner, outer], A, [[inner, [A]]])).toBe(inner)
})

test('an agent itself', () => {
  const [inner, outer] = [agent(), agent()]
  expect(anchor(inner, [shell, outer], A, [[outer, [A]]])).toBe(inner)
})

test('an agent of another account leaves the caller to itself, also under an outer one of its own', () => {
  const [inner, outer] = [agent(), agent()]
  expect(
    anchor(curl, [shell, inner, outer], B, [
      [inner, [A]],
      [outer, [B]],
    ]),
  ).toBe(curl)
  expect(anchor(curl, [shell, inner, outer], B, [[outer, [B]]])).toBe(inner)
})

test('an agent that uses both accounts has a session of each', () => {
  const inner = agent()
  expect(anchor(curl, [shell, inner], B, [[inner, [A, B]]])).toBe(inner)
})

test('a registered ancestor that is no agent', () => {
  const service = process({ comm: 'python3' })
  expect(anchor(curl, [service, agent()], A, [[service, [A]]])).toBe(service)
  expect(anchor(curl, [service, agent()], B, [[service, [A]]])).toBe(curl)
  expect(anchor(service, [agent()], A, [[service, [A]]])).toBe(service)
})

test("the leader of a person's terminal, where there is no agent", () => {
  const leader = process({ pid: 77, sid: 77, tty: 34_816 })
  const child = process({ sid: 77, tty: 34_816 })
  expect(anchor(child, [process({ sid: 77, tty: 34_816 }), leader, init], A)).toBe(leader)
  expect(anchor(leader, [init], A)).toBe(leader)
  expect(anchor(child, [leader, init], B, [[leader, [A]]])).toBe(leader)
  expect(anchor(child, [leader, agent(), init], A)).not.toBe(leader)
})

test('without a terminal, or with a leader that has gone, the process itself', () => {
  expect(anchor(process({ sid: 77 }), [process({ pid: 77, sid: 77 }), init], A)).toMatchObject({ sid: 77, tty: 0 })
  const orphan = process({ sid: 78, tty: 34_816 })
  expect(anchor(orphan, [init], A)).toBe(orphan)
})

test('a process of another user is no anchor, and an agent of another user ends the walk', () => {
  const foreign = process({ uid: 0 })
  const inner = agent()
  expect(anchor(curl, [foreign, inner], A, [[foreign, [A]]])).toBe(inner)
  expect(anchor(curl, [shell, agent({ uid: 0 }), agent()], A)).toBe(curl)
  const leader = process({ pid: 79, sid: 79, tty: 5, uid: 0 })
  const child = process({ sid: 79, tty: 5 })
  expect(anchor(child, [leader], A)).toBe(child)
})

test('the rule that decided is told', () => {
  const [inner, service] = [agent(), process({ comm: 'python3' })]
  const leader = process({ pid: 80, sid: 80, tty: 5 })
  const rule = (...walk: Parameters<typeof decided>) => decided(...walk).rule
  expect(rule(curl, [shell, inner], A)).toBe('agent_above')
  expect(rule(inner, [shell], A)).toBe('is_agent')
  expect(rule(service, [], A, [[service, [A]]])).toBe('own_session')
  expect(rule(curl, [service], A, [[service, [A]]])).toBe('session_above')
  expect(rule(curl, [inner], B, [[inner, [A]]])).toBe('other_account_above')
  expect(rule(curl, [agent({ uid: 0 })], A)).toBe('other_user_above')
  expect(rule(process({ sid: 80, tty: 5 }), [leader], A)).toBe('terminal')
  expect(rule(curl, [shell, init], A)).toBe('itself')
})

test('without a token: the sessions of the nearest process that has any, never past an agent client', () => {
  const [inner, outer] = [agent(), agent()]
  const already = (caller: Process, ancestors: Process[], sessions: [Process, number[]][]) =>
    accountsAlready(caller, ancestors, {
      accounts: (one) => new Set(sessions.find(([who]) => who === one)?.[1] ?? []),
      isAgent: (one) => one.comm === 'claude',
    })
  expect(already(curl, [shell, outer, init], [])).toEqual([])
  expect(already(curl, [shell, outer, init], [[outer, [A]]])).toEqual([A])
  expect(
    already(
      curl,
      [shell, outer],
      [
        [curl, [B]],
        [outer, [A]],
      ],
    ),
  ).toEqual([B])
  expect(already(curl, [shell, inner, outer], [[outer, [A]]])).toEqual([])
  expect(already(curl, [shell, init], [[shell, [A, B]]])).toEqual([A, B])
  const foreign = process({ uid: 0 })
  expect(
    already(
      curl,
      [foreign, outer],
      [
        [foreign, [B]],
        [outer, [A]],
      ],
    ),
  ).toEqual([A])
})
