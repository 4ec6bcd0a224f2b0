// The mailbox as a scheduled task of Windows: with the user's logon, or with the machine. It needs no rights of an administrator.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { logPath } from '../background.ts'
import type { ServiceChange, ServiceLog, ServiceState, ServiceStep, ServiceTarget } from '../service-step.ts'
import { complaint, must, run } from './run.ts'
import type { Scope } from './systemd.ts'
import { taskText } from './task.ts'
import { serviceName } from './words.ts'
import { textAt, writeWhole } from './write.ts'

const ASK_MS = 10_000

export class WindowsTask implements ServiceStep {
  readonly note = null

  constructor(readonly scope: Scope) {}

  describe(target: ServiceTarget): ServiceChange[] {
    const path = xmlPath(target)
    return [
      { what: `writes ${path}`, path, text: taskText(target, this.scope) },
      ...this.#begin(target).map((words) => ({ what: words.join(' ') })),
    ]
  }

  async unavailable({ env }: ServiceTarget): Promise<string | null> {
    const asked = await run(['schtasks.exe', '/Query', '/FO', 'CSV', '/NH'], env, ASK_MS)
    return asked.code === 0 ? null : `schtasks: ${complaint(asked)}`
  }

  async plan(target: ServiceTarget): Promise<ServiceChange[] | null> {
    if ((await this.unavailable(target)) !== null) return null
    return this.#isInPlace(target) && (await this.isActive(target)) ? [] : this.describe(target)
  }

  async install(target: ServiceTarget): Promise<void> {
    const wasInstalled = (await this.#query(target)) !== null
    if (this.#isInPlace(target) && (await this.isActive(target))) return
    try {
      mkdirSync(target.dataDir, { recursive: true })
      writeWhole(xmlPath(target), utf16(taskText(target, this.scope)))
      for (const words of this.#begin(target)) await must(words, target.env)
    } catch (error) {
      if (!wasInstalled) await this.uninstall(target)
      throw error
    }
  }

  async uninstall(target: ServiceTarget): Promise<void> {
    if ((await this.#query(target)) !== null) {
      await run(['schtasks.exe', '/End', '/TN', this.#name(target)], target.env)
      await must(['schtasks.exe', '/Delete', '/F', '/TN', this.#name(target)], target.env)
    }
    rmSync(xmlPath(target), { force: true })
  }

  async isActive(target: ServiceTarget): Promise<boolean> {
    return (await this.state(target)).active
  }

  async start(target: ServiceTarget): Promise<void> {
    await must(['schtasks.exe', '/Run', '/TN', this.#name(target)], target.env)
  }

  async stop(target: ServiceTarget): Promise<void> {
    if (await this.isActive(target)) await must(['schtasks.exe', '/End', '/TN', this.#name(target)], target.env)
  }

  async state(target: ServiceTarget): Promise<ServiceState> {
    const state = await this.#query(target)
    return {
      manager: 'Task Scheduler',
      name: this.#name(target),
      file: xmlPath(target),
      installed: state !== null,
      active: state === 'Running',
      state: state ?? 'not installed',
      pid: null,
      restarts: null,
      reason: null,
    }
  }

  log({ dataDir }: ServiceTarget): ServiceLog {
    return { file: logPath(dataDir) }
  }

  /** The state of the task, in the words of the system; null where there is none. PowerShell's, which no language changes. */
  async #query(target: ServiceTarget): Promise<string | null> {
    const script = `(Get-ScheduledTask -TaskName '${this.#name(target)}' -ErrorAction Stop).State.ToString()`
    const asked = await run(['powershell.exe', '-NoProfile', '-NonInteractive', '-Command', script], target.env)
    return asked.code === 0 && asked.out.trim() !== '' ? asked.out.trim() : null
  }

  #isInPlace(target: ServiceTarget): boolean {
    return textAt(xmlPath(target), 'utf16le') === `\ufeff${taskText(target, this.scope)}`
  }

  #begin(target: ServiceTarget): string[][] {
    const name = this.#name(target)
    return [
      ['schtasks.exe', '/Create', '/F', '/TN', name, '/XML', xmlPath(target)],
      ['schtasks.exe', '/Run', '/TN', name],
    ]
  }

  #name(target: ServiceTarget): string {
    return this.scope === 'system' ? `${serviceName(target)}-boot` : serviceName(target)
  }
}

/** schtasks reads UTF-16 with its mark. */
const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le')

const xmlPath = ({ dataDir }: ServiceTarget): string => join(dataDir, 'service.xml')
