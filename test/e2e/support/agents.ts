// Agents for a compiled mailbox: the stand-in as a program of the operator's, in a folder of its own, and what it wrote down.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mailbox } from './mailbox.ts'

const STAND_IN = join(import.meta.dir, '..', '..', 'support', 'stand-in.ts')

export type Shown = {
  dispatch: { id: number; state: string; outcome: string | null; reply: string | null; bounce: string | null }
  attempts: { number: number; run: string; cause: string | null; pid: number | null }[]
}

/** Makes an account an agent that behaves as said, attempt by attempt. Its folder. */
export async function addAgent(
  mailbox: Mailbox,
  id: string,
  behaviour: readonly string[],
  profile: object = {},
): Promise<string> {
  const cwd = join(mailbox.root, `work-${id}`)
  mkdirSync(cwd, { recursive: true })
  writeFileSync(join(cwd, 'behaviour'), behaviour.join('\n'))
  const how = {
    provider: 'command',
    program: process.execPath,
    args: ['run', STAND_IN],
    per_day: 10_000,
    env: ['SLOW_MS'],
  }
  await mailbox.admin('agent', { id, cwd, ...how, ...profile })
  return cwd
}

export async function show(mailbox: Mailbox, id: number): Promise<Shown> {
  const { body, status } = await mailbox.post('/mail/dispatch_show', mailbox.operatorKey, { id })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body as Shown
}

export async function done(mailbox: Mailbox, id: number, ms = 60_000): Promise<Shown> {
  for (const end = performance.now() + ms; ; await Bun.sleep(50)) {
    const shown = await show(mailbox, id)
    if (shown.dispatch.state === 'done') return shown
    if (performance.now() > end)
      throw new Error(`${JSON.stringify(shown)} ${readFileSync(join(mailbox.root, 'stderr'), 'utf8').slice(-2_000)}`)
  }
}

/** Lines of the stand-in's notes that begin with `word`. */
export const notes = (cwd: string, word: string): string[] => {
  const path = join(cwd, 'notes')
  return existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith(`${word} `))
    : []
}

/** Every process of this machine that was started for a run of a dispatch of this mailbox. */
export function atWork(mailbox: Mailbox): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, 'latin1')
        return environment.includes('M4A_RUN=') && environment.includes(mailbox.root)
      } catch {
        return false // no process, or one that ended while we looked
      }
    })
}
