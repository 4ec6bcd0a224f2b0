// One-shot callers as processes of their own: what curl would be in somebody's shell.
import { join } from 'node:path'
import type { Reply } from './actor.ts'
import type { Mailbox } from './mailbox.ts'

export const ONE_SHOT = join(import.meta.dir, 'one-shot.ts')

export type Call = {
  token: string
  path: string
  /** As it is sent; none without. */
  body?: string
  /** Through the Unix socket. */
  socket?: boolean
  /** Another port than the mailbox's: a forwarder's. */
  port?: number
  /** When to call: at once, or after the process that started it has ended, or both. */
  when?: 'now' | 'orphaned' | 'both'
}

export type Shape = {
  /** Runs the words of the call, from a shell or whatever stands between. */
  wrap?: (words: string[]) => string[]
  cwd?: string
  /** Arguments that the call does not read, behind it. */
  argv?: string[]
  program?: string
}

/** The command line of a one-shot call. */
export function words(mailbox: Mailbox, call: Call, { program = process.execPath, argv = [] }: Shape = {}): string[] {
  const order = { ...call, port: call.port ?? mailbox.port, socket: call.socket ? mailbox.socket : null }
  return [program, ONE_SHOT, JSON.stringify(order), ...argv]
}

export function start(mailbox: Mailbox, call: Call, shape: Shape = {}) {
  const wrap = shape.wrap ?? ((one) => one)
  return Bun.spawn(wrap(words(mailbox, call, shape)), {
    env: { PATH: process.env.PATH ?? '', HOME: mailbox.root },
    ...(shape.cwd ? { cwd: shape.cwd } : {}),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
}

/** Runs a one-shot call below this very process; its last answer. */
export async function run(mailbox: Mailbox, call: Call, shape: Shape = {}): Promise<Reply> {
  const text = await new Response(start(mailbox, call, shape).stdout).text()
  return JSON.parse(text.trim().split('\n').at(-1) ?? '')
}
