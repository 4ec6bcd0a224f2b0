// Which service manager this machine has for its user; none yet, so the mailbox runs in the background.
import type { Machine } from './machine.ts'
import type { ServiceStep } from './service-step.ts'

/** Null: there is none. */
export function serviceStep(_machine: Machine): ServiceStep | null {
  return null
}
