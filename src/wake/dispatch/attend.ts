// The attendant: a small process of its own between the mailbox and an agent. It outlives the mailbox, keeps the agent's
// output in files, stays the parent of whatever the agent leaves behind, and writes down how the agent ended.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { becomeSubreaper } from '../../attest/linux/subreaper.ts'
import { claim, type Exit, filesOf, put, readSpec, type Spec, takeEnvironment } from './attempt-files.ts'
import { bootId, everyProcess, seenAt } from './proc.ts'

const LOOK_MS = 100

/** Attends the attempt in `folder`. Resolves to false when another process does, or none ever may. */
export async function attend(folder: string): Promise<boolean> {
  const self = seenAt(process.pid)
  if (self === null || !claim(folder, { pid: self.pid, start: self.start, boot: bootId() })) return false
  becomeSubreaper()
  // the group is signalled as a whole; who writes down the end must outlast it
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => {})
  const ended = await run(folder, readSpec(folder))
  put(filesOf(folder).exit, JSON.stringify(ended))
  // what the agent left has become ours: as long as we are here, the mailbox finds it below us
  while (everyProcess().some(({ ppid }) => ppid === self.pid)) await Bun.sleep(LOOK_MS)
  return true
}

async function run(folder: string, { program, args, cwd, umask }: Spec): Promise<Exit> {
  const { prompt, out, err } = filesOf(folder)
  const env = takeEnvironment(folder) ?? process.env
  const files = [openSync(prompt, 'r'), openSync(out, 'a', 0o600), openSync(err, 'a', 0o600)]
  process.umask(umask)
  try {
    // the letter goes over standard input: nothing of it is in the arguments or the environment
    return await endOf(spawn(program, args, { cwd, env, stdio: files }))
  } catch (error) {
    return {
      code: null,
      signal: null,
      error: error instanceof Error ? error.message : 'unknown failure',
      at: Date.now(),
    }
  } finally {
    process.umask(0o077)
    for (const file of files) closeSync(file)
  }
}

const endOf = (child: ChildProcess): Promise<Exit> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, error: error.message, at: Date.now() }))
    child.once('exit', (code, signal) => resolve({ code, signal, error: null, at: Date.now() }))
  })
