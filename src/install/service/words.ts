// What a service runs and what it is called: one for each user and data folder.
import { createHash } from 'node:crypto'
import type { Manager } from '../service-manager.ts'
import type { ServiceTarget } from '../service-step.ts'

/** `mail4agent`; with a data folder of its own a name of its own, so that it replaces no other. */
export function serviceName({ us, dataDir }: ServiceTarget): string {
  if (us.place.length === 0) return 'mail4agent'
  return `mail4agent-${createHash('sha256').update(dataDir).digest('hex').slice(0, 8)}`
}

/** Everything is said in the words: a service manager has an environment of its own. */
export function serveWords({ us, dataDir, port, socket }: ServiceTarget, manager: Manager): string[] {
  const where = [...(port === null ? [] : ['--port', String(port)]), ...(socket === null ? [] : ['--socket', socket])]
  return [...us.program, 'serve', '--service', manager, '--data-dir', dataDir, ...where]
}

/** Variables that the mailbox reads beside its options, as they are where it is installed. */
export function serveEnvironment({ env }: ServiceTarget): [name: string, value: string][] {
  const names = ['PATH', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'M4A_RECOGNISED_AGENTS']
  return names.flatMap((name): [string, string][] => {
    const value = env[name]
    return value === undefined || /[\n\r]/.test(value) ? [] : [[name, value]]
  })
}
