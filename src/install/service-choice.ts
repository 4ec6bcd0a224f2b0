// Which service manager this machine has, by its system.
import type { Machine } from './machine.ts'
import { Launchd } from './service/launchd.ts'
import { type Scope, Systemd } from './service/systemd.ts'
import { WindowsTask } from './service/windows.ts'
import type { ServiceStep } from './service-step.ts'

/** Null: there is none that we know. Whether it works here, `unavailable` says. */
export function serviceStep({ platform }: Pick<Machine, 'platform'>, scope: Scope = 'user'): ServiceStep | null {
  if (platform === 'linux') return new Systemd(scope)
  if (platform === 'darwin') return new Launchd(scope)
  return platform === 'win32' ? new WindowsTask(scope) : null
}
