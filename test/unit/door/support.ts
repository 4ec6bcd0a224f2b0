// A real daemon in a folder of its own on a free port, and clients of it. The callers are this very process.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MailClient, type Target } from '../../../src/client/client.ts'
import { type Daemon, startDaemon } from '../../../src/door/daemon.ts'
import { openLog } from '../../../src/door/log.ts'
import { Refusal } from '../../../src/wire/refusal.ts'

// the plain requests of tests go through fetch, which would otherwise use the proxy of the machine
process.env.NO_PROXY = '127.0.0.1,localhost,::1'

export const silent = openLog({ write: () => {} })

/** A folder of mode 0700 that goes away with `using`. */
export function folder(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'm4a-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

export class Office implements AsyncDisposable {
  readonly #clients: MailClient[] = []
  readonly #tokens = new Map<string, string>()
  private constructor(
    readonly daemon: Daemon,
    readonly dataDir: string,
    readonly removed: Disposable,
  ) {
    this.#tokens.set('operator', readFileSync(join(dataDir, 'operator.key'), 'utf8'))
  }

  /** Accounts that may send and read, beside the operator. */
  static async open(...accounts: string[]): Promise<Office> {
    const removed = folder()
    const { path } = removed
    const socket = join(path, 'm4a.sock')
    const daemon = await startDaemon({ dataDir: path, port: 0, socket, recognised: [], log: silent })
    const office = new Office(daemon, path, removed)
    for (const id of accounts) {
      const { secret } = await office.client('operator').admin('participant', { id, may_send: true, may_read: true })
      office.#tokens.set(id, secret ?? '')
    }
    return office
  }

  token(account: string): string {
    return this.#tokens.get(account) ?? ''
  }

  client(account: string, over: 'tcp' | 'ipv6' | 'unix' = 'tcp'): MailClient {
    const { port, socketPath } = this.daemon
    const hosts = { tcp: '127.0.0.1', ipv6: '[::1]' }
    const target: Target = over === 'unix' ? { socket: socketPath ?? '' } : { base: `http://${hosts[over]}:${port}` }
    const client = new MailClient({ ...target, token: this.token(account) })
    this.#clients.push(client)
    return client
  }

  /** One plain request over TCP, as curl would send it. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.daemon.port}${path}`, init)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.close()
    await this.daemon.stop()
    this.removed[Symbol.dispose]()
  }
}

/** The refusal that `promise` rejects with. */
export async function refusalOf(promise: Promise<unknown>): Promise<Refusal> {
  const error = await promise.then(
    () => null,
    (reason) => reason,
  )
  if (error instanceof Refusal) return error
  throw new Error(`no refusal but ${error}`)
}
