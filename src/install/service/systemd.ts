// The mailbox as a unit of systemd: of the user's own manager, or an instance of the template under the machine's.
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Refusal } from '../../wire/refusal.ts'
import type { ServiceChange, ServiceLog, ServiceState, ServiceStep, ServiceTarget } from '../service-step.ts'
import { complaint, must, type Ran, run } from './run.ts'
import { systemUnit, userUnit } from './systemd-unit.ts'
import { serviceName } from './words.ts'
import { removeEmpty, textAt, writeWhole } from './write.ts'

export type Scope = 'user' | 'system'

const SYSTEM_UNITS = '/etc/systemd/system'
const ASK_MS = 5_000
const PROPERTIES = 'LoadState,ActiveState,SubState,Result,ExecMainStatus,StatusText,MainPID,NRestarts'

export class Systemd implements ServiceStep {
  readonly note: string | null

  constructor(readonly scope: Scope) {
    this.note =
      scope === 'user' ? 'it runs while you are logged in; to have it from boot on: loginctl enable-linger' : null
  }

  describe(target: ServiceTarget): ServiceChange[] {
    const [path, text] = [this.#path(target), this.#text(target)]
    return [{ what: `writes ${path}`, path, text }, ...this.#begin(target).map((words) => ({ what: words.join(' ') }))]
  }

  async unavailable(target: ServiceTarget): Promise<string | null> {
    const asked = await this.#ask(target, 'show-environment')
    if (asked.code !== 0) return `systemctl: ${complaint(asked)}`
    if (this.scope === 'system') return process.getuid?.() === 0 ? null : 'only root installs a service of the machine'
    // Run with another HOME, as a test or a container is, the manager would look for the unit in a folder that is not this one.
    const theirs = environmentIn(asked.out)
    const same = theirs.HOME === target.home && folderOf(theirs, target.home) === folderOf(target.env, target.home)
    return same ? null : `the user's systemd works for ${theirs.HOME ?? 'another home'}, and not for ${target.home}`
  }

  async plan(target: ServiceTarget): Promise<ServiceChange[] | null> {
    if ((await this.unavailable(target)) !== null) return null
    if (textAt(this.#path(target)) !== this.#text(target)) return this.describe(target)
    return (await this.isActive(target)) ? [] : [{ what: this.#begin(target).at(-1)?.join(' ') ?? '' }]
  }

  async install(target: ServiceTarget): Promise<void> {
    const path = this.#path(target)
    const before = textAt(path)
    const [text, wasActive] = [this.#text(target), await this.isActive(target)]
    if (before === text && wasActive) return
    try {
      if (before !== text) writeWhole(path, text)
      for (const words of this.#begin(target)) await this.#must(target, words)
      if (wasActive) await this.#must(target, this.#systemctl('restart', this.#unit(target)))
    } catch (error) {
      const reason = await this.#reason(target)
      if (before === null) await this.uninstall(target)
      else writeWhole(path, before)
      if (!(error instanceof Refusal) || reason === null) throw error
      throw failed(reason)
    }
  }

  async uninstall(target: ServiceTarget): Promise<void> {
    const path = this.#path(target)
    if (textAt(path) === null) return
    await this.#must(target, this.#systemctl('disable', '--now', this.#unit(target)))
    await run(this.#systemctl('reset-failed', this.#unit(target)), target.env)
    if (this.scope === 'system' && (await this.#others(target))) return
    rmSync(path, { force: true })
    if (this.scope === 'user') removeEmpty(dirname(path), dirname(dirname(path)))
    await this.#must(target, this.#systemctl('daemon-reload'))
  }

  async isActive(target: ServiceTarget): Promise<boolean> {
    return (await this.#ask(target, 'is-active', '--quiet', this.#unit(target))).code === 0
  }

  async start(target: ServiceTarget): Promise<void> {
    await run(this.#systemctl('reset-failed', this.#unit(target)), target.env)
    try {
      await this.#must(target, this.#systemctl('start', this.#unit(target)))
    } catch (error) {
      const reason = await this.#reason(target)
      if (!(error instanceof Refusal) || reason === null) throw error
      throw failed(reason)
    }
  }

  async stop(target: ServiceTarget): Promise<void> {
    await this.#must(target, this.#systemctl('stop', this.#unit(target)))
  }

  async state(target: ServiceTarget): Promise<ServiceState> {
    const shown = await this.#show(target)
    const path = this.#path(target)
    const active = shown.ActiveState === 'active'
    return {
      manager: this.scope === 'user' ? 'systemd (user)' : 'systemd',
      name: this.#unit(target),
      file: path,
      installed: textAt(path) !== null,
      active,
      state: `${shown.ActiveState ?? 'unknown'} (${shown.SubState ?? 'unknown'})`,
      pid: Number(shown.MainPID) || null,
      restarts: shown.NRestarts === undefined ? null : Number(shown.NRestarts),
      reason: active ? shown.StatusText || null : await this.#reason(target),
    }
  }

  log(target: ServiceTarget, lines: number, follow: boolean): ServiceLog {
    const scope = this.scope === 'user' ? ['--user'] : []
    const more = ['-u', this.#unit(target), '-n', String(lines), '-o', 'cat', ...(follow ? ['-f'] : ['--no-pager'])]
    return { command: ['journalctl', ...scope, ...more] }
  }

  /** Why it does not run: what it said of itself, and what systemd makes of its end (status 200 and more: systemd.exec(5)). */
  async #reason(target: ServiceTarget): Promise<string | null> {
    const { Result, ExecMainStatus, StatusText } = await this.#show(target)
    if (Result === undefined || Result === 'success') return null
    const end = Result === 'exit-code' ? `it ended with ${ExecMainStatus}` : Result
    return StatusText ? `${StatusText} (${end})` : end
  }

  async #show(target: ServiceTarget): Promise<Record<string, string | undefined>> {
    return environmentIn((await this.#ask(target, 'show', this.#unit(target), '-p', PROPERTIES)).out)
  }

  /** Does the template run for somebody else too? */
  async #others(target: ServiceTarget): Promise<boolean> {
    const listed = await this.#ask(target, 'list-units', '--all', '--plain', '--no-legend', 'mail4agent@*.service')
    return listed.out.split('\n').some((line) => line.includes(' active ') && !line.includes(this.#unit(target)))
  }

  #begin(target: ServiceTarget): string[][] {
    return [this.#systemctl('daemon-reload'), this.#systemctl('enable', '--now', this.#unit(target))]
  }

  #unit(target: ServiceTarget): string {
    return this.scope === 'user' ? `${serviceName(target)}.service` : `mail4agent@${target.user}.service`
  }

  #path(target: ServiceTarget): string {
    if (this.scope === 'system') return join(SYSTEM_UNITS, 'mail4agent@.service')
    return join(folderOf(target.env, target.home), 'systemd', 'user', this.#unit(target))
  }

  #text(target: ServiceTarget): string {
    return this.scope === 'user' ? userUnit(target) : systemUnit(target)
  }

  #systemctl(...words: string[]): string[] {
    return ['systemctl', ...(this.scope === 'user' ? ['--user'] : []), ...words]
  }

  #ask({ env }: ServiceTarget, ...words: string[]): Promise<Ran> {
    return run(this.#systemctl(...words), env, ASK_MS)
  }

  #must({ env }: ServiceTarget, words: readonly string[]): Promise<Ran> {
    return must(words, env)
  }
}

const failed = (reason: string): Refusal =>
  new Refusal('service_failed', `the service does not start: ${reason}`, {}, 'mend that, and say this again')

/** Where a user's manager looks for units: systemd.unit(5). */
const folderOf = (env: Readonly<Record<string, string | undefined>>, home: string): string =>
  env.XDG_CONFIG_HOME || join(home, '.config')

/** Lines of NAME=value, as `show` and `show-environment` print them. */
const environmentIn = (text: string): Record<string, string | undefined> =>
  Object.fromEntries(
    text.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
