// A store, accounts and a watcher with doors that the test opens and shuts: what is woken, how often, and with which text.

import { noWakes, type WakePort } from '../../../src/engine/wake/port.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Probe, WakeAdapter, WakeLetter, Woken } from '../../../src/wake/adapter.ts'
import { ready, woken } from '../../../src/wake/adapter.ts'
import { Turns } from '../../../src/wake/turns.ts'
import { Watcher } from '../../../src/wake/watcher.ts'
import { World } from '../engine/world.ts'

/** Milliseconds: as the real ones, a hundred times faster. */
export const TIMES = { settle: 20, startSettle: 40, cover: 600, look: 15, retry: 60 }

/** A door that keeps what it was given. */
export class TestDoor implements WakeAdapter {
  readonly tier
  readonly optIn
  readonly letters: WakeLetter[] = []
  probeAnswer: Probe = ready()
  answer: Woken | Error = woken('started', 'a turn began')
  /** Milliseconds that it takes. */
  takes = 0

  constructor(
    readonly id: string,
    tier: WakeAdapter['tier'] = 'session',
    optIn = false,
    readonly sessions = true,
  ) {
    this.tier = tier
    this.optIn = optIn
  }

  serves = ({ session }: { session: string | null }): boolean => (session !== null) === this.sessions
  probe = async (): Promise<Probe> => this.probeAnswer
  async wake(_: unknown, letter: WakeLetter): Promise<Woken> {
    this.letters.push(letter)
    if (this.takes > 0) await Bun.sleep(this.takes)
    if (this.answer instanceof Error) throw this.answer
    return this.answer
  }
}

const attestor = { environment: () => ({ HOME: '/nowhere' }) }

export class PostOffice extends World {
  readonly turns = new Turns(Date.now)
  watcher: Watcher | null = null

  static override async open(path = ':memory:'): Promise<PostOffice> {
    return new PostOffice(await openStore(path))
  }

  /** Watches with these doors; what watched before is ended. */
  async watch(...adapters: WakeAdapter[]): Promise<Watcher> {
    await this.watcher?.stop()
    const wakes: WakePort = {
      ...noWakes,
      doors: adapters.map(({ id }) => id),
      hop: (session) => this.turns.hop(session),
      hooked: (session, moment, told) => this.turns.hooked(session, moment, told),
      heard: (session) => this.turns.heard(session),
      due: (box) => this.watcher?.due(box) ?? 0,
    }
    Object.assign(this.mail, { wakes })
    // the watcher asks an attestor for the environment of processes alone
    const options = { mail: this.mail, attestor: attestor as never, env: {}, adapters, turns: this.turns, times: TIMES }
    this.watcher = new Watcher(options)
    this.watcher.start()
    return this.watcher
  }

  override async close(): Promise<void> {
    await this.watcher?.stop()
    await super.close()
  }
}

/** Long enough for every wake that is on its way. */
export const settled = (): Promise<void> => Bun.sleep(120)
