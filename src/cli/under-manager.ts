// How `serve` behaves when a service manager runs it: what it logs, how it says why it ends, and when it is not to be started again.
import { fstatSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivate } from '../door/folders.ts'
import type { Log } from '../door/log.ts'
import { EX_CONFIG, MANAGERS, type Manager } from '../install/service-manager.ts'
import type { Refusal, RefusalKind } from '../wire/refusal.ts'
import { usage } from './usage.ts'

/** @throws Refusal `usage` */
export function managerNamed(name: string | undefined): Manager | null {
  if (name === undefined) return null
  const manager = MANAGERS.find((one) => one === name)
  if (manager === undefined) throw usage(`--service takes one of ${MANAGERS.join(', ')}`)
  return manager
}

/** What stays as it is until a person does something. The rest may pass: a port gets free, a disk gets room. */
const UNTIL_MENDED: readonly RefusalKind[] = [
  'usage',
  'bad_permissions',
  'newer_store',
  'damaged_store',
  'damaged_config',
  'unsupported_platform',
]

/**
 * The exit code for a mailbox that could not start or go on. launchd starts again whatever does not end with 0, so there 0
 * means: leave it (launchd.plist(5), KeepAlive, SuccessfulExit).
 */
export function exitFor(manager: Manager, refusal: Refusal): number {
  if (!UNTIL_MENDED.includes(refusal.kind)) return refusal.exit
  return manager === 'launchd' ? 0 : EX_CONFIG
}

export function logRefusal(log: Log, { kind, message, hint }: Refusal): void {
  log.error(message, { kind, hint })
}

const startsIn = (dataDir: string): string => join(dataDir, 'starts.json')
const MOST_STARTS = 5
const WITHIN_MS = 120_000

/**
 * Notes this start and answers why there are too many of them, else null. systemd counts by itself (StartLimitBurst=);
 * launchd does not, it only waits 10 s between two of them. `now` in milliseconds since the epoch.
 */
export function tooManyStarts(dataDir: string, now: number): string | null {
  const path = startsIn(dataDir)
  const recent = [...timesIn(path).filter((at) => at <= now && now - at < WITHIN_MS), now]
  try {
    writePrivate(path, JSON.stringify(recent))
  } catch {
    return null // there is no folder yet, or it takes nothing: the start itself refuses that by name
  }
  return recent.length > MOST_STARTS ? `started ${recent.length} times within ${WITHIN_MS / 60_000} minutes` : null
}

/** It ended as it was asked to: the next start is the first one. */
export const forgetStarts = (dataDir: string): void => rmSync(startsIn(dataDir), { force: true })

function timesIn(path: string): number[] {
  try {
    const found: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return Array.isArray(found) ? found.filter((at) => typeof at === 'number') : []
  } catch {
    return []
  }
}

/** Does standard error lead into the journal? JOURNAL_STREAM names its device and inode: systemd.exec(5). */
export function errIsJournal(env: Readonly<Record<string, string | undefined>>): boolean {
  if (!env.JOURNAL_STREAM) return false
  try {
    const { dev, ino } = fstatSync(2)
    return env.JOURNAL_STREAM === `${dev}:${ino}`
  } catch {
    return false
  }
}
