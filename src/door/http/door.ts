// What every route of the door works with, and the count of calls that are being answered.
import type { Feeds } from '../../delivery/feeds.ts'
import type { Mail } from '../../engine/mail.ts'
import type { Identity } from '../../identity/identify.ts'
import type { Log } from '../log.ts'
import type { Connections } from './connections.ts'
import type { HealthFacts } from './health.ts'
import type { Metrics } from './metrics.ts'

export type Door = {
  readonly mail: Mail
  readonly identity: Identity
  readonly health: HealthFacts
  readonly metrics: Metrics
  /** Readers parked right now. */
  readonly waiting: () => number
  /** Readers of /events. */
  readonly feeds: Feeds
  readonly connections: Connections
  readonly calls: Calls
  readonly log: Log
}

/** Calls under way. Once closed, new ones are refused and streams end. */
export class Calls {
  readonly #closing = new AbortController()
  #running = 0
  #idle: (() => void) | undefined

  get closed(): AbortSignal {
    return this.#closing.signal
  }

  enter(): void {
    this.#running++
  }

  leave(): void {
    if (--this.#running === 0) this.#idle?.()
  }

  /** Takes no further calls; resolves when the last has been answered, or after `ms`. */
  close(ms: number): Promise<void> {
    this.#closing.abort()
    if (this.#running === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#idle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
