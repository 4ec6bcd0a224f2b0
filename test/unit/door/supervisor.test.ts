// What the mailbox tells the service manager that runs it, and that it says nothing where there is none.
import { expect, test } from 'bun:test'
import { openLog } from '../../../src/door/log.ts'
import { openSupervisor } from '../../../src/door/supervisor.ts'

test('without a manager, or with a socket that nobody reads, it goes on', () => {
  for (const NOTIFY_SOCKET of [undefined, '/nowhere/at/all', '@nobody listens here', 'vsock:2:1234', 'x'.repeat(200)]) {
    const env: Record<string, string | undefined> = { NOTIFY_SOCKET, WATCHDOG_USEC: '1000000', PATH: '/bin' }
    const supervisor = openSupervisor(env)
    supervisor.ready('listens')
    supervisor.status('fine')
    supervisor.stopping()
    expect(env).toEqual({ PATH: '/bin' })
  }
})

test('lines for the journal carry their level', () => {
  const lines: string[] = []
  const log = openLog({ human: false, journal: true, write: (line) => lines.push(line) })
  log.info('listening', { at: '127.0.0.1:1' })
  log.warn('odd')
  log.error('broken', { reason: 'a "b"\nc' })
  expect(lines.map((line) => line.replace(/time=\S+ /, ''))).toEqual([
    '<6>level=info msg=listening at=127.0.0.1:1\n',
    '<4>level=warn msg=odd\n',
    '<3>level=error msg=broken reason="a \\"b\\"\\nc"\n',
  ])
})
