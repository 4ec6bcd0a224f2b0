// The compiled binary in a HOME of its own: a daemon on a free port, commands against it, and a shell that passes for an agent.
import { chmodSync, copyFileSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const BINARY = join(import.meta.dir, '../../../dist/mail4agent')

export type Ran = { code: number; out: string; err: string }
export type Daemon = { out: string; stop(): Promise<number> }

export class CliWorld {
  readonly home: string
  readonly dataDir: string
  /** A copy of the shell under the name of an agent client, recognised by its path alone. */
  readonly agent: string
  readonly #daemons: Daemon[] = []

  constructor() {
    if (!existsSync(BINARY)) throw new Error(`${BINARY} is missing: npm run build`)
    this.home = mkdtempSync(join(realpathSync(tmpdir()), 'm4a-cli-'))
    this.dataDir = join(this.home, '.local', 'share', 'mail4agent')
    this.agent = join(this.home, 'claude')
    copyFileSync(realpathSync('/bin/sh'), this.agent)
    chmodSync(this.agent, 0o755)
  }

  env(more: Record<string, string> = {}): Record<string, string> {
    return { PATH: process.env.PATH ?? '', HOME: this.home, TZ: 'UTC', M4A_RECOGNISED_AGENTS: this.agent, ...more }
  }

  spawn(
    argv: readonly string[],
    options: { env?: Record<string, string>; stdin?: string | Uint8Array<ArrayBuffer>; cwd?: string } = {},
  ) {
    const { stdin } = options
    return Bun.spawn([...argv], {
      cwd: options.cwd ?? this.home,
      env: this.env(options.env),
      stdin: stdin === undefined ? 'ignore' : new Blob([stdin]),
      stdout: 'pipe',
      stderr: 'pipe',
    })
  }

  /** Runs one command of ours to its end. */
  async run(argv: readonly string[], options: Parameters<CliWorld['spawn']>[1] = {}): Promise<Ran> {
    return finished(this.spawn([BINARY, ...argv], options))
  }

  /** As `run`, and its answer as JSON. Throws when it is refused. */
  async json<T>(argv: readonly string[], options: Parameters<CliWorld['spawn']>[1] = {}): Promise<T> {
    const { code, out, err } = await this.run(['--json', ...argv], options)
    if (code !== 0) throw new Error(`${argv.join(' ')} exits with ${code}: ${err}`)
    return JSON.parse(out)
  }

  /** Commands of one shell that passes for Claude: `m4a` is our binary; the last `true` keeps the shell from replacing itself. */
  async asAgent(script: string): Promise<Ran> {
    return finished(this.spawn([this.agent, '-c', `m4a() { '${BINARY}' "$@"; }\n${script}\ncode=$?; true; exit $code`]))
  }

  /** Starts the daemon and waits until it answers. */
  async serve(...options: string[]): Promise<Daemon> {
    const child = this.spawn([BINARY, 'serve', '--port', '0', ...options])
    const reader = child.stdout.getReader()
    let out = ''
    while (!out.includes('stops it')) {
      const { done, value } = await reader.read()
      if (done) throw new Error(`no daemon: ${await new Response(child.stderr).text()}`)
      out += new TextDecoder().decode(value)
    }
    const daemon: Daemon = {
      out,
      async stop() {
        child.kill('SIGTERM')
        return child.exited
      },
    }
    this.#daemons.push(daemon)
    return daemon
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const daemon of this.#daemons) await daemon.stop()
    rmSync(this.home, { recursive: true, force: true })
  }
}

export async function finished(child: ReturnType<CliWorld['spawn']>): Promise<Ran> {
  const [out, err, code] = await Promise.all([exactText(child.stdout), new Response(child.stderr).text(), child.exited])
  return { code, out, err }
}

/** `Response.text` would drop a byte order mark. */
const exactText = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(await new Response(stream).bytes())
