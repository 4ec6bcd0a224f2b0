// Daemons of no Mailbox: those that should not come up, of another user, beside another one; and folders of their own.
import { afterEach } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from '../../support/temp.ts'
import { BINARY, Mailbox } from './mailbox.ts'

export const opened: (() => unknown)[] = []

/** Each file that opens something here calls this: a hook of a module that several files import is one of the first file alone. */
export const closeAfterEach = (): void =>
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close()
  })

export async function mailboxOf(): Promise<Mailbox> {
  const mailbox = await Mailbox.start()
  opened.push(() => mailbox[Symbol.asyncDispose]())
  return mailbox
}

export function folder(): string {
  const temp = tempFolder()
  opened.push(() => temp[Symbol.dispose]())
  return temp.path
}

export const environment = (home: string) => ({ PATH: process.env.PATH ?? '', HOME: home, M4A_RECOGNISED_AGENTS: '' })

/** Starts a daemon that should not come up, and what it says. */
export async function refused(
  home: string,
  ...options: string[]
): Promise<{ exit: number | null; kind: string; message: string; err: string }> {
  const child = Bun.spawn([BINARY, 'serve', '--json', ...options], {
    env: environment(home),
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
  const err = await new Response(child.stderr).text()
  const exit = await child.exited
  clearTimeout(timer)
  const line = err.split('\n').find((one) => one.startsWith('{')) ?? '{}'
  return { exit, kind: '', message: '', ...JSON.parse(line), err }
}

/** A daemon of no Mailbox: by another user, or with a socket elsewhere. It has to come up. */
export async function serve(
  argv: string[],
  data: string,
  home: string,
): Promise<{ pid: number; port: number; stop(): Promise<number> }> {
  const child = Bun.spawn(argv, { env: environment(home), stdin: 'ignore', stdout: 'ignore', stderr: 'pipe', cwd: '/' })
  opened.push(async () => {
    child.kill('SIGKILL')
    await child.exited
  })
  for (let tries = 0; tries < 400; tries++) {
    const file = join(data, 'daemon.json')
    if (existsSync(file)) {
      const { pid, port } = JSON.parse(readFileSync(file, 'utf8'))
      const up = pid === child.pid ? await fetch(`http://127.0.0.1:${port}/health`).catch(() => null) : null
      if (up) {
        const stop = () => {
          child.kill('SIGTERM')
          return child.exited
        }
        return { pid, port, stop }
      }
    }
    if (child.exitCode !== null) throw new Error(await new Response(child.stderr).text())
    await Bun.sleep(20)
  }
  throw new Error('the daemon does not come up')
}
