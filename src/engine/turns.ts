// Turns: each account has so many calls at work at once; the rest of its calls stand in a line of its own, so that a flood waits
// for itself and for nobody else.
import { LIMITS } from '../wire/limits.ts'
import { Refusal } from '../wire/refusal.ts'

type Line = { working: number; left: number; readonly waiting: (() => void)[] }

/** Milliseconds that two accounts count as being there together. */
const TOGETHER_MS = 1_000
/** While others are there, a line moves on this often (ms): between, the loop is theirs. Alone, in each turn of the loop. */
const PACE_MS = 4

export class Turns {
  readonly #lines = new Map<number, Line>()
  /** Lines with calls that have ended since the last step. */
  readonly #left: Line[] = []
  #last = 0
  #together = Number.NEGATIVE_INFINITY

  /**
   * Does `work` in a turn of `account`, at once where it can. The turn ends with the answer; `parks`: with its first pause.
   * @throws Refusal as `take`, and what `work` throws
   */
  within<T>(account: number, parks: boolean, work: () => T | Promise<T>): T | Promise<T> {
    const begin = (): T | Promise<T> => {
      try {
        const answer = work()
        if (!(answer instanceof Promise) || parks) this.leave(account)
        else answer.then(leave, leave) // beside the answer, which waits for nothing more
        return answer
      } catch (error) {
        this.leave(account)
        throw error
      }
    }
    const leave = (): void => this.leave(account)
    const turn = this.take(account)
    return turn === null ? begin() : turn.then(begin)
  }

  /**
   * A call of `account` begins: null for at once, which is the usual case, or when its turn has come.
   * @throws Refusal `too_many` where its line is full
   */
  take(account: number): Promise<void> | null {
    if (account !== this.#last) {
      this.#last = account
      this.#together = performance.now()
    }
    let line = this.#lines.get(account)
    if (!line) {
      line = { working: 0, left: 0, waiting: [] }
      this.#lines.set(account, line)
    }
    if (line.working < LIMITS.callsAtOnce && line.waiting.length === 0) {
      line.working++
      return null
    }
    if (line.waiting.length >= LIMITS.callsWaiting) throw tooMany('calls that wait for their turn', LIMITS.callsWaiting)
    const { waiting } = line
    return new Promise((resolve) => waiting.push(resolve))
  }

  /** It has ended; the next of its account begins later, so that others are served in between. */
  leave(account: number): void {
    const line = this.#lines.get(account)
    if (!line || line.left++ > 0 || this.#left.push(line) > 1) return
    setImmediate(this.#step)
  }

  #step = (): void => {
    const pace = performance.now() - this.#together < TOGETHER_MS
    const late: Line[] = []
    for (const line of this.#left.splice(0)) {
      line.working -= line.left
      line.left = 0
      if (line.waiting.length === 0) continue
      if (pace) late.push(line)
      else advance(line)
    }
    if (late.length > 0) setTimeout(advanceAll, PACE_MS, late)
  }
}

function advance(line: Line): void {
  while (line.waiting.length > 0 && line.working < LIMITS.callsAtOnce) {
    line.working++
    line.waiting.shift()?.()
  }
}

const advanceAll = (lines: readonly Line[]): void => lines.forEach(advance)

/** Of something that `whose` holds or has under way there are `limit`, and no more may be. `what` in the plural. */
export const tooMany = (what: string, limit: number, whose = 'this account'): Refusal =>
  new Refusal('too_many', `${whose} has ${limit} ${what}, as many as there may be`, { limit, retry_after_ms: 1_000 })
