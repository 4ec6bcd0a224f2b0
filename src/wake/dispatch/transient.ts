// A transient systemd service for each run, where the mailbox is a systemd service itself: systemd-run(1).
//
// A service and no scope: a scope stays a child of the mailbox's unit in all that seccomp(2) and no_new_privs hand on, and
// agents have sandboxes of their own to set up. A service begins with nothing of it.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { RUN_VARIABLE } from './family.ts'

type Env = Readonly<Record<string, string | undefined>>

/** systemd sets INVOCATION_ID for what it starts: systemd.exec(5). */
export const belowSystemd = (env: Env): boolean =>
  env.INVOCATION_ID !== undefined && Bun.which('systemd-run') !== null && runtimeFolder(env) !== null

/** Where the manager of this user listens, also for a service of the system, which is not told; null: none runs. */
function runtimeFolder({ XDG_RUNTIME_DIR: named }: Env): string | null {
  const folder = named ?? `/run/user/${process.getuid?.()}`
  return existsSync(join(folder, 'systemd', 'private')) || existsSync(join(folder, 'bus')) ? folder : null
}

/**
 * What stands in front of a command so that it runs as a service of the user's manager; systemd-run ends with 0 once the
 * command has been executed. The run's id is in its environment, everything else of it comes by a file.
 */
export const transientWords = (run: string, folder: string): string[] => [
  'systemd-run',
  '--user',
  '--quiet',
  '--collect',
  '--service-type=exec',
  `--unit=m4a-run-${run}`,
  `--working-directory=${folder}`,
  `--setenv=${RUN_VARIABLE}=${run}`,
  '--',
]

/** What systemd-run itself needs; the agent's variables are none of its business. */
export const transientEnvironment = (env: Env): Record<string, string> => ({
  PATH: env.PATH ?? '/usr/bin:/bin',
  ...(env.HOME === undefined ? {} : { HOME: env.HOME }),
  XDG_RUNTIME_DIR: runtimeFolder(env) ?? '',
})
