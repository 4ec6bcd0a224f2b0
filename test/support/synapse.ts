// A real homeserver on loopback: Synapse 1.98 (the last one under the Apache licence) with SQLite, in a venv of its own that is kept.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'

const REQUIREMENTS = join(import.meta.dir, 'synapse-requirements.txt')

/** Python with Synapse in it. Installed once; a venv that was cut off is never taken for a finished one. */
async function python(): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'mail4agent-test-interop')
  const wanted = Bun.hash(readFileSync(REQUIREMENTS)).toString(16)
  const folder = join(cache, `synapse-${wanted}`)
  const done = join(folder, 'done')
  const binary = join(folder, 'bin', 'python')
  if (existsSync(done)) return binary
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
  await run(['python3', '-m', 'venv', folder])
  await run([binary, '-m', 'pip', 'install', '--quiet', '--no-deps', '--only-binary', ':all:', '-r', REQUIREMENTS])
  writeFileSync(`${done}.new`, '')
  renameSync(`${done}.new`, done)
  return binary
}

async function run(argv: string[], cwd?: string): Promise<void> {
  const child = Bun.spawn(argv, { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe', ...(cwd ? { cwd } : {}) })
  const complaint = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(`${argv.join(' ')}: ${complaint}`)
}

export class Synapse {
  readonly root = mkdtempSync(join(tmpdir(), 'm4a-synapse-'))
  #child: Bun.Subprocess | null = null

  private constructor(
    private readonly binary: string,
    readonly port: number,
  ) {}

  /** `more`: settings of homeserver.yaml beside the usual ones. */
  static async start(more: object = {}): Promise<Synapse> {
    const synapse = new Synapse(await python(), freePort())
    synapse.#configure(more)
    const app = ['-m', 'synapse.app.homeserver', '-c', 'homeserver.yaml']
    await run([synapse.binary, ...app, '--generate-keys'], synapse.root)
    await synapse.up()
    return synapse
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  #configure(more: object): void {
    const { root, port } = this
    const many = { per_second: 10_000, burst_count: 10_000 }
    const config = {
      server_name: 'localhost',
      pid_file: join(root, 'pid'),
      listeners: [{ port, type: 'http', bind_addresses: ['127.0.0.1'], resources: [{ names: ['client'] }] }],
      database: { name: 'sqlite3', args: { database: join(root, 'homeserver.db') } },
      log_config: join(root, 'log.yaml'),
      media_store_path: join(root, 'media'),
      signing_key_path: join(root, 'signing.key'),
      macaroon_secret_key: 'm',
      form_secret: 'f',
      report_stats: false,
      trusted_key_servers: [],
      suppress_key_server_warning: true,
      enable_registration: true,
      enable_registration_without_verification: true,
      presence: { enabled: false },
      rc_message: many,
      rc_registration: many,
      rc_login: { address: many, account: many, failed_attempts: many },
      rc_joins: { local: many, remote: many },
      rc_invites: { per_room: many, per_user: many, per_issuer: many },
      ...more,
    }
    const logging = {
      version: 1,
      handlers: { file: { class: 'logging.FileHandler', filename: join(root, 'log') } },
      root: { level: 'WARNING', handlers: ['file'] },
    }
    // JSON is YAML
    writeFileSync(join(root, 'homeserver.yaml'), JSON.stringify(config))
    writeFileSync(join(root, 'log.yaml'), JSON.stringify(logging))
  }

  async up(): Promise<void> {
    this.#child = Bun.spawn([this.binary, '-m', 'synapse.app.homeserver', '-c', 'homeserver.yaml'], {
      cwd: this.root,
      stdin: 'ignore',
      stdout: Bun.file(join(this.root, 'stdout')),
      stderr: Bun.file(join(this.root, 'stderr')),
    })
    for (let tries = 0; tries < 600; tries++) {
      const up = await fetch(`${this.url}/_matrix/client/versions`).catch(() => null)
      if (up?.ok) return
      if (this.#child.exitCode !== null)
        throw new Error(`synapse ended: ${readFileSync(join(this.root, 'stderr'), 'utf8')}`)
      await Bun.sleep(100)
    }
    throw new Error('synapse does not come up')
  }

  async down(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#child?.kill(signal)
    await this.#child?.exited
    this.#child = null
  }

  /** A user with a password; `device` too: logged in with a device of that name, as `{access_token, device_id}`. */
  async user(name: string, password: string): Promise<void> {
    const body = { username: name, password, inhibit_login: true, auth: { type: 'm.login.dummy' } }
    await this.call('POST', '/register', body)
  }

  async call(method: string, path: string, body?: object, token?: string): Promise<Record<string, any>> {
    const response = await fetch(`${this.url}/_matrix/client/v3${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const answer = (await response.json()) as Record<string, any>
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer
  }

  /** Everything that lies on its disk, as bytes. */
  disk(): Buffer {
    const names = readdirSync(this.root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    return Buffer.concat(names.map((entry) => readFileSync(join(entry.parentPath, entry.name))))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down()
    rmSync(this.root, { recursive: true, force: true })
  }
}

function freePort(): number {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = server
  server.stop(true)
  return port ?? 0
}
