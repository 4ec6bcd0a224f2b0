// What the service commands share: which manager, which service, and the refusal where there is no manager to ask.
import { existsSync } from 'node:fs'
import { logPath } from '../../install/background.ts'
import { serviceStep } from '../../install/service-choice.ts'
import type { ServiceStep, ServiceTarget } from '../../install/service-step.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { Context } from '../context.ts'
import { type Installer, installerFor } from '../installer.ts'
import { serviceTarget } from '../up-daemon.ts'
import { usage } from '../usage.ts'

export const SYSTEM = {
  system: { help: "the machine's own service, which runs as <user> from boot on; needs root" },
} as const

export type Service = { step: ServiceStep; target: ServiceTarget; installer: Installer }

/**
 * The service that the command line speaks of.
 * @throws Refusal `no_service_manager` on a system that has none which we know
 */
export function serviceOf(context: Context, system: boolean): Service {
  const installer = installerFor(context)
  const step = serviceStep(installer.machine, system ? 'system' : 'user')
  const [user] = context.words
  if (user !== undefined && !system) throw usage('a user is named with --system only')
  // becomes a part of a unit's name and of folders
  if (user !== undefined && !/^[A-Za-z_][A-Za-z0-9._\\-]*\$?$/.test(user)) throw usage('that is no name of a user')
  if (step === null)
    throw new Refusal('no_service_manager', `no service manager is known on ${installer.machine.platform}`)
  const target = serviceTarget(context, installer)
  const named = user ?? (system ? context.io.env.SUDO_USER : undefined)
  return { step, target: named ? { ...target, user: named } : target, installer }
}

/** As `serviceOf`. @throws Refusal `no_service_manager` with what is in the way */
export async function usableService(context: Context, system: boolean): Promise<Service> {
  const service = serviceOf(context, system)
  const reason = await service.step.unavailable(service.target)
  if (reason === null) return service
  const path = logPath(context.place.dataDir)
  const hint = existsSync(path)
    ? `without one: mail4agent start, stop and restart; the log of the mailbox is ${path}`
    : undefined
  throw new Refusal('no_service_manager', `no service manager answers here: ${reason}`, { reason }, hint)
}
