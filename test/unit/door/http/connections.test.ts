// Open connections of accounts: what is counted, that the ended are found, who is refused, and that the refused one is closed.
import { describe, expect, test } from 'bun:test'
import net from 'node:net'
import fc from 'fast-check'
import { Connections } from '../../../../src/door/http/connections.ts'
import { LIMITS } from '../../../../src/wire/limits.ts'
import { Refusal } from '../../../../src/wire/refusal.ts'
import { Office } from '../support.ts'

const { connectionsAccount, connectionsAll } = LIMITS

/** Calls as that account over a connection that is open as long as `open` has its name; true where it was let in. */
function calls(connections: Connections, open: Set<string>, account: number, name: string): boolean {
  try {
    connections.called(account, name, () => open.has(name))
    return true
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'too_many') return false
    throw error
  }
}

describe('counted', () => {
  test('an account has so many; its own go on, others are not touched, and who leaves makes room', () => {
    const connections = new Connections()
    const open = new Set(Array.from({ length: connectionsAccount }, (_, at) => `a${at}`))
    for (const name of open) expect(calls(connections, open, 1, name)).toBe(true)
    expect(() => connections.called(1, 'late', () => true)).toThrow(
      `this account has ${connectionsAccount} open connections`,
    )
    expect(calls(connections, open, 1, 'a7')).toBe(true)
    expect(calls(connections, open, 2, 'b')).toBe(true)
    expect(calls(connections, open, 1, 'b')).toBe(false)
    expect([connections.count(1), connections.count(2)]).toEqual([connectionsAccount, 1])
  })

  test('connections that come and go are never too many', () => {
    const connections = new Connections()
    const open = new Set<string>()
    for (let at = 0; at < 5 * connectionsAccount; at++) {
      open.add(`c${at}`).delete(`c${at - 10}`)
      expect(calls(connections, open, 1, `c${at}`)).toBe(true)
    }
    expect(connections.count(1)).toBeLessThanOrEqual(connectionsAccount)
  })

  test('all together have so many', () => {
    const connections = new Connections()
    const each = connectionsAccount / 2
    for (let at = 0; at < connectionsAll; at++) connections.called(1 + Math.floor(at / each), `${at}`, () => true)
    expect(() => connections.called(999, 'late', () => true)).toThrow(
      `the mailbox has ${connectionsAll} open connections`,
    )
    // one that is counted already may be another account's from now on
    connections.called(999, '0', () => true)
    expect(connections.count(1)).toBe(each - 1)
  })

  test('one that is full is not asked again at each call', () => {
    const connections = new Connections()
    let asked = 0
    const isOpen = () => ++asked > 0
    for (let at = 0; at < connectionsAccount; at++) connections.called(1, `${at}`, isOpen)
    for (let at = 0; at < 50; at++)
      expect(() => connections.called(1, `late ${at}`, isOpen)).toThrow('open connections')
    expect(asked).toBeLessThan(50 * connectionsAccount)
    expect(asked).toBeGreaterThanOrEqual(connectionsAccount)
  })

  // the law: below the limit everybody is let in, and a connection counts for whoever called on it last
  test('as a list of owners', () => {
    const step = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 30 }))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const connections = new Connections()
        const owners = new Map<number, number>()
        for (const [account, name] of steps) {
          connections.called(account, `${name}`, () => true)
          owners.set(name, account)
        }
        for (const account of [1, 2, 3, 4])
          expect(connections.count(account)).toBe([...owners.values()].filter((owner) => owner === account).length)
      }),
    )
  })
})

/** A kept connection of its own: one call after the other; null once the other end has closed it. */
function keptConnection(office: Office, over: 'tcp' | 'unix', authorization: string) {
  const { port, socketPath } = office.daemon
  const socket = over === 'tcp' ? net.connect(port, '127.0.0.1') : net.connect(socketPath ?? '')
  const { promise: closed, resolve } = Promise.withResolvers<null>()
  socket.on('close', () => resolve(null)).on('error', () => resolve(null))
  let text = ''
  let answered: ((text: string) => void) | undefined
  socket.on('data', (data) => {
    text += data
    const [head = '', body = ''] = text.split('\r\n\r\n')
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? Number.NaN)
    if (Buffer.byteLength(body) < length || !text.includes('\r\n\r\n')) return
    const whole = text
    text = ''
    answered?.(whole)
  })
  return {
    closed,
    end: () => socket.destroy(),
    call: () => {
      const answer = new Promise<string>((done) => {
        answered = done
      })
      socket.write(
        `POST /mail/whoami HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nContent-Length: 0\r\n\r\n`,
      )
      return Promise.race([answer, closed])
    },
  }
}

describe.each(['tcp', 'unix'] as const)('calls without a valid token, over %s', (over) => {
  test('are refused at once when they are too many, and closed; a valid token is served all the while', async () => {
    await using office = await Office.open('alice')
    const good = keptConnection(office, over, `Bearer ${office.token('alice')}`)
    expect(await good.call()).toStartWith('HTTP/1.1 200')
    const stranger = keptConnection(office, over, 'Bearer nonsense')
    let last: string | null = null
    let refused = 0
    for (let at = 0; at < 20 * LIMITS.unknownBurst; at++) {
      last = await stranger.call()
      if (!last?.startsWith('HTTP/1.1 401')) break
      refused++
    }
    expect(refused).toBeGreaterThanOrEqual(LIMITS.unknownBurst)
    expect(last).toStartWith('HTTP/1.1 429')
    expect(last).toMatch(/^retry-after: 1\r$/im)
    expect(last).toMatch(/^connection: close\r$/im)
    expect(last).toContain('"kind":"rate_limited"')
    expect(last).toMatch(/"retry_after_ms":\d+/)
    expect(await stranger.closed).toBeNull()
    expect(await good.call()).toStartWith('HTTP/1.1 200')
    good.end()
  }, 60_000)
})
