// A machine with a service manager of the test's own: test/support/systemd.py, reached by its systemctl and journalctl on the PATH.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BINARY } from './mailbox.ts'

const MANAGER = join(import.meta.dir, '..', '..', 'support', 'systemd.py')

export type Ran = { code: number; out: string; err: string }

export class ManagedMachine {
  readonly root = mkdtempSync(join(tmpdir(), 'm4a-service-'))
  readonly home = join(this.root, 'home')
  readonly runtime = join(this.root, 'run')
  readonly data = join(this.home, '.local', 'share', 'mail4agent')
  readonly unit = join(this.home, '.config', 'systemd', 'user', 'mail4agent.service')
  readonly env = {
    HOME: this.home,
    XDG_RUNTIME_DIR: this.runtime,
    PATH: `${join(this.root, 'bin')}:/usr/bin:/bin`,
    USER: 'pat',
    M4A_RECOGNISED_AGENTS: '',
    M4A_PORT: '0',
  }
  #manager: Bun.Subprocess<'ignore', 'pipe', 'inherit'> | null = null

  static async start(): Promise<ManagedMachine> {
    const machine = new ManagedMachine()
    for (const folder of ['bin', 'home', 'run']) mkdirSync(join(machine.root, folder), { mode: 0o700 })
    for (const name of ['systemctl', 'journalctl']) {
      const path = join(machine.root, 'bin', name)
      writeFileSync(path, `#!/bin/sh\nexec /usr/bin/env python3 ${MANAGER} ${name} "$@"\n`)
      chmodSync(path, 0o755)
    }
    const env = { ...machine.env, PATH: process.env.PATH ?? '' }
    const manager = Bun.spawn(['python3', MANAGER, 'manager'], { env, stdin: 'ignore', stdout: 'pipe' })
    machine.#manager = manager
    const { value } = await manager.stdout.getReader().read()
    if (!value) throw new Error('the service manager does not start')
    return machine
  }

  /** One command of the binary. */
  async m4a(...words: string[]): Promise<Ran> {
    return this.run([BINARY, ...words])
  }

  async run(words: string[]): Promise<Ran> {
    const child = Bun.spawn(words, { env: this.env, cwd: this.home, stdio: ['ignore', 'pipe', 'pipe'] })
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { code: await child.exited, out, err }
  }

  /** One command, with its answer or its refusal. */
  async json(...words: string[]): Promise<{ code: number } & Record<string, any>> {
    const { code, out, err } = await this.m4a(...words, '--json')
    return { code, ...JSON.parse(out === '' ? (err.split('\n').find((line) => line.startsWith('{')) ?? '{}') : out) }
  }

  /** Changes a directive of the installed unit, as a person would in an editor. */
  async edit(name: string, value: string): Promise<void> {
    const text = readFileSync(this.unit, 'utf8')
    writeFileSync(this.unit, text.replace(RegExp(`^${name}=.*$`, 'm'), `${name}=${value}`))
    await this.run(['systemctl', '--user', 'daemon-reload'])
  }

  async until<T>(what: string, ask: () => Promise<T | null | false>, ms = 20_000): Promise<T> {
    for (const end = performance.now() + ms; performance.now() < end; await Bun.sleep(50)) {
      const found = await ask()
      if (found) return found
    }
    throw new Error(`not in time: ${what}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#manager?.kill('SIGTERM')
    await this.#manager?.exited
    rmSync(this.root, { recursive: true, force: true })
  }
}
