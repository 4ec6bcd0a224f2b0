// What the mailbox says to the service manager that runs it, where one listens: ready, how it is, that it lives, that it stops.
import { tellServiceManager } from '../attest/service-manager.ts'

export type Supervisor = {
  /** Callers are served from now on. `status` is one line for people. */
  ready(status: string): void
  status(line: string): void
  stopping(): void
}

const SILENT: Supervisor = { ready() {}, status() {}, stopping() {} }

/**
 * By NOTIFY_SOCKET and WATCHDOG_USEC, which are taken out of `env`: they are ours and no child's (sd_notify(3)). Says nothing
 * where there is no manager.
 */
export function openSupervisor(env: Record<string, string | undefined>): Supervisor {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: micro, WATCHDOG_PID: pid } = env
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete env[name]
  if (!socket) return SILENT
  const tell = (...lines: string[]) => void tellServiceManager(socket, lines.join('\n'))
  let watchdog: Timer | undefined
  return {
    ready(status) {
      tell('READY=1', statusLine(status))
      // Half of the time that is given: sd_watchdog_enabled(3). From the thread that serves callers, which must not hang.
      const every = pid === undefined || Number(pid) === process.pid ? Number(micro) / 2_000 : 0
      if (every >= 1) watchdog = setInterval(() => tell('WATCHDOG=1'), every).unref()
    },
    status: (line) => tell(statusLine(line)),
    stopping() {
      clearInterval(watchdog)
      tell('STOPPING=1')
    },
  }
}

/** One line: a line break would begin another variable. */
const statusLine = (text: string): string => `STATUS=${text.replaceAll(/\p{Cc}/gu, ' ')}`
