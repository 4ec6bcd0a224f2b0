// Who is not proved reaches nothing: no connection, no attestation, a self-test that failed. Only /health answers then.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openAttestor } from '../../../../src/attest/attestor.ts'
import { refuseAll } from '../../../../src/attest/none.ts'
import { Feeds } from '../../../../src/delivery/feeds.ts'
import { Waiters } from '../../../../src/delivery/waiters.ts'
import { createApp } from '../../../../src/door/http/app.ts'
import { type Connection, cameOver } from '../../../../src/door/http/caller.ts'
import { Connections } from '../../../../src/door/http/connections.ts'
import { Calls, type Door } from '../../../../src/door/http/door.ts'
import { Metrics } from '../../../../src/door/http/metrics.ts'
import { ensureOperator } from '../../../../src/door/operator.ts'
import { noRuns } from '../../../../src/engine/dispatch/runs.ts'
import { Rates } from '../../../../src/engine/rates.ts'
import { noWakes } from '../../../../src/engine/wake/port.ts'
import { openIdentity } from '../../../../src/identity/identify.ts'
import { openStore } from '../../../../src/store/open.ts'
import { LIMITS } from '../../../../src/wire/limits.ts'
import { noDesktop } from '../../../support/no-desktop.ts'
import { folder, silent } from '../support.ts'

/** A door of its own on an empty store, and how one request of the operator over `connection` ends. */
async function withDoor<T>(
  use: (ask: (path: string, connection: Connection | null) => Promise<[number, string]>, door: Door) => Promise<T>,
): Promise<T> {
  using place = folder()
  const key = join(place.path, 'operator.key')
  const store = await openStore(':memory:')
  await ensureOperator(store, key)
  const token = await Bun.file(key).text()
  const attestor = openAttestor()
  const identity = openIdentity(store, attestor, { recognised: [] })
  const waiters = new Waiters(store)
  const door: Door = {
    mail: {
      store,
      parking: waiters,
      rates: new Rates(),
      now: Date.now,
      alive: () => true,
      ownPort: () => 0,
      dataDir: place.path,
      bell: () => ({ pending: 0, lastOk: null, lastError: null, lastErrorAt: null }),
      desktop: noDesktop,
      runs: noRuns('a test'),
      wakes: noWakes,
    },
    identity,
    health: { startedAt: Date.now(), attestation: { ok: true }, listening: [], unavailable: [] },
    metrics: new Metrics(),
    waiting: () => waiters.size,
    feeds: new Feeds(store),
    connections: new Connections(),
    calls: new Calls(),
    log: silent,
  }
  const app = createApp(door)
  const ask = async (path: string, connection: Connection | null): Promise<[number, string]> => {
    const init = path === '/health' ? {} : { method: 'POST', headers: { authorization: `Bearer ${token}` } }
    const request = new Request(`http://localhost${path}`, init)
    request.headers.set('host', 'localhost')
    if (connection) cameOver(request, connection)
    const answer = await app.handle(request)
    return [answer.status, (await answer.json()).kind ?? 'answered']
  }
  try {
    return await use(ask, door)
  } finally {
    waiters.stop()
    attestor.close()
    await store.close()
  }
}

const none = refuseAll('no attestation on this machine')
const unsupported: Connection = { over: 'tcp', attest: () => none.tcp(() => null, { address: '127.0.0.1', port: 1 }) }
const gone: Connection = { over: 'unix', attest: async () => ({ ok: false, kind: 'peer_gone', seen: {} }) }

test('a request of no known connection is refused', async () => {
  await withDoor(async (ask) => {
    expect(await ask('/mail/whoami', null)).toEqual([403, 'no_holder'])
    expect(await ask('/mcp', null)).toEqual([403, 'no_holder'])
  })
})

test('a refusal of attestation keeps its name', async () => {
  await withDoor(async (ask) => {
    expect(await ask('/mail/whoami', unsupported)).toEqual([403, 'unsupported_platform'])
    expect(await ask('/mail/whoami', gone)).toEqual([403, 'peer_gone'])
    expect(await ask('/admin/room/list', gone)).toEqual([403, 'peer_gone'])
    expect(await ask('/mcp', gone)).toEqual([403, 'peer_gone'])
  })
})

test.if(process.platform === 'linux')(
  'after a failed self-test even a proved caller is refused, and /health says why',
  async () => {
    await withDoor(async (ask, door) => {
      const attestor = openAttestor()
      const proved = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        async fetch(request, self) {
          const local = { address: '127.0.0.1', port: self.port ?? 0 }
          const attest = () => attestor.tcp(() => self.requestIP(request), local)
          return Response.json(await ask('/mail/whoami', { over: 'tcp', attest }))
        },
      })
      const call = async () => (await fetch(`http://127.0.0.1:${proved.port}/`)).json()
      expect(await call()).toEqual([200, 'answered'])
      door.health.attestation = { ok: false, reason: 'broken on purpose' }
      expect(await call()).toEqual([403, 'attestation_down'])
      expect(await ask('/health', null)).toEqual([503, 'answered'])
      await proved.stop(true)
      attestor.close()
    })
  },
)

test('a call over one connection too many of its account is refused by name; over one that is counted it is not', async () => {
  await withDoor(async (ask, door) => {
    const attestor = openAttestor()
    const process = attestor.self()
    if (!process) throw new Error('no process of our own')
    const over = (connection: string, isOpen = () => true): Connection => ({
      over: 'unix',
      attest: () => ({ ok: true, process, via: 'unix', connection }),
      isOpen,
    })
    let open = true
    expect(
      await ask(
        '/mail/whoami',
        over('one', () => open),
      ),
    ).toEqual([200, 'answered'])
    const { id } = door.mail.store.registry.account('operator') ?? { id: 0 }
    for (let at = 1; at < LIMITS.connectionsAccount; at++) door.connections.called(id, `${at}`, () => true)
    expect(await ask('/mail/whoami', over('late'))).toEqual([429, 'too_many'])
    expect(await ask('/mcp', over('late'))).toEqual([429, 'too_many'])
    expect(await ask('/mail/whoami', over('one'))).toEqual([200, 'answered'])
    open = false
    const given = performance.now() + 20_000
    let answer = await ask('/mail/whoami', over('next'))
    for (; answer[0] === 429 && performance.now() < given; await Bun.sleep(50))
      answer = await ask('/mail/whoami', over('next'))
    expect(answer).toEqual([200, 'answered'])
    attestor.close()
  })
}, 30_000)

test('a door that is closing refuses new calls', async () => {
  await withDoor(async (ask, door) => {
    await door.calls.close(0)
    expect(await ask('/mail/whoami', gone)).toEqual([503, 'shutting_down'])
    expect(await ask('/health', null)).toEqual([200, 'answered'])
  })
})
