// The mailbox as a job of launchd: an agent of the user who is logged in, or a daemon that runs as that user from boot on.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Refusal } from '../../wire/refusal.ts'
import { logPath } from '../background.ts'
import type { ServiceChange, ServiceLog, ServiceState, ServiceStep, ServiceTarget } from '../service-step.ts'
import { plistText } from './plist.ts'
import { complaint, must, run } from './run.ts'
import type { Scope } from './systemd.ts'
import { serveEnvironment, serveWords, serviceName } from './words.ts'
import { textAt, writeWhole } from './write.ts'

const ASK_MS = 5_000
/** Milliseconds: a job is unloaded a moment after bootout(1) has said so. */
const GONE_MS = 20_000

/** The job: launchd.plist(5). */
export function jobText(target: ServiceTarget, label: string, scope: Scope): string {
  const log = logPath(target.dataDir)
  return plistText({
    Label: label,
    ProgramArguments: serveWords(target, 'launchd'),
    EnvironmentVariables: Object.fromEntries(serveEnvironment(target)),
    ...(scope === 'system' ? { UserName: target.user } : {}),
    RunAtLoad: true,
    // started again unless it ended with 0; `serve` counts, and ends with 0 where another start would change nothing
    KeepAlive: { SuccessfulExit: false },
    ThrottleInterval: 10,
    ExitTimeOut: 15,
    // otherwise launchd ends all that it has started: agents at work among them
    AbandonProcessGroup: true,
    // not Background, which is throttled: people and agents wait for its answers
    ProcessType: 'Interactive',
    Umask: 0o077,
    SoftResourceLimits: { NumberOfFiles: 65_536 },
    StandardOutPath: log,
    StandardErrorPath: log,
  })
}

export class Launchd implements ServiceStep {
  readonly note = null

  constructor(readonly scope: Scope) {}

  describe(target: ServiceTarget): ServiceChange[] {
    const path = this.#path(target)
    const text = jobText(target, this.#label(target), this.scope)
    return [{ what: `writes ${path}`, path, text }, ...this.#begin(target).map((words) => ({ what: words.join(' ') }))]
  }

  async unavailable(target: ServiceTarget): Promise<string | null> {
    const asked = await run(['launchctl', 'print', this.#domain()], target.env, ASK_MS)
    if (asked.code !== 0) return `launchctl: ${complaint(asked)}`
    return this.scope === 'user' || process.getuid?.() === 0 ? null : 'only root installs a service of the machine'
  }

  async plan(target: ServiceTarget): Promise<ServiceChange[] | null> {
    if ((await this.unavailable(target)) !== null) return null
    const same = textAt(this.#path(target)) === jobText(target, this.#label(target), this.scope)
    return same && (await this.isActive(target)) ? [] : this.describe(target)
  }

  async install(target: ServiceTarget): Promise<void> {
    const path = this.#path(target)
    const before = textAt(path)
    const text = jobText(target, this.#label(target), this.scope)
    if (before === text && (await this.isActive(target))) return
    try {
      if (before !== text) writeWhole(path, text)
      await this.#unload(target)
      for (const words of this.#begin(target)) await must(words, target.env)
    } catch (error) {
      if (before === null) await this.uninstall(target)
      throw error
    }
  }

  async uninstall(target: ServiceTarget): Promise<void> {
    await this.#unload(target)
    rmSync(this.#path(target), { force: true })
  }

  async isActive(target: ServiceTarget): Promise<boolean> {
    return (await this.state(target)).active
  }

  async start(target: ServiceTarget): Promise<void> {
    if (!(await this.#isLoaded(target))) await must(this.#bootstrap(target), target.env)
    await must(['launchctl', 'kickstart', this.#service(target)], target.env)
  }

  /** Unloaded, or KeepAlive would start it again. */
  stop(target: ServiceTarget): Promise<void> {
    return this.#unload(target)
  }

  async state(target: ServiceTarget): Promise<ServiceState> {
    const { code, out } = await run(['launchctl', 'print', this.#service(target)], target.env, ASK_MS)
    const said = (name: string) => RegExp(`^\\s*${name} = (.*)$`, 'm').exec(out)?.[1]?.trim() ?? null
    const state = code === 0 ? (said('state') ?? 'unknown') : 'not loaded'
    const exit = said('last exit code')
    return {
      manager: this.scope === 'user' ? 'launchd (agent)' : 'launchd (daemon)',
      name: this.#label(target),
      file: this.#path(target),
      installed: textAt(this.#path(target)) !== null,
      active: state === 'running',
      state,
      pid: Number(said('pid')) || null,
      restarts: null,
      reason: state === 'running' || exit === null ? null : `last exit code ${exit}`,
    }
  }

  log({ dataDir }: ServiceTarget): ServiceLog {
    return { file: logPath(dataDir) }
  }

  async #isLoaded(target: ServiceTarget): Promise<boolean> {
    return (await run(['launchctl', 'print', this.#service(target)], target.env, ASK_MS)).code === 0
  }

  async #unload(target: ServiceTarget): Promise<void> {
    if (!(await this.#isLoaded(target))) return
    await must(['launchctl', 'bootout', this.#service(target)], target.env)
    for (const end = performance.now() + GONE_MS; performance.now() < end; await Bun.sleep(100))
      if (!(await this.#isLoaded(target))) return
    throw new Refusal('service_failed', `launchd does not let go of ${this.#label(target)}`, {}, 'try again')
  }

  #begin(target: ServiceTarget): string[][] {
    // a job that was disabled once stays so until it is enabled: launchctl(1)
    return [['launchctl', 'enable', this.#service(target)], this.#bootstrap(target)]
  }

  #bootstrap(target: ServiceTarget): string[] {
    return ['launchctl', 'bootstrap', this.#domain(), this.#path(target)]
  }

  #domain(): string {
    return this.scope === 'system' ? 'system' : `gui/${process.getuid?.() ?? 0}`
  }

  #service(target: ServiceTarget): string {
    return `${this.#domain()}/${this.#label(target)}`
  }

  #label(target: ServiceTarget): string {
    return this.scope === 'system' ? `${serviceName(target)}.${target.user}` : serviceName(target)
  }

  #path(target: ServiceTarget): string {
    const folder = this.scope === 'system' ? '/Library/LaunchDaemons' : join(target.home, 'Library', 'LaunchAgents')
    return join(folder, `${this.#label(target)}.plist`)
  }
}
