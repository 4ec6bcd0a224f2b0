// The readers of /events: how many there are, and which of them a commit concerns; what they read at once is read once.
import { tooMany } from '../engine/turns.ts'
import type { EventRow, Recipient } from '../store/rows.ts'
import type { Commit, Store } from '../store/store.ts'
import { LIMITS } from '../wire/limits.ts'

/** One reader that waits or works. */
export interface Feed {
  /** Row id of its account. */
  readonly account: number
  /** Something of its account has happened, or to it, or, for an operator, anything. */
  wake(): void
  /** Nothing up to that sequence is its to read. */
  skip(sequence: number): void
}

/** Events of one read. */
const PAGE = 256

export class Feeds {
  readonly #store: Store
  readonly #all = new Set<Feed>()
  readonly #byAccount = new Map<number, number>()
  #unsubscribe: (() => void)[] = []
  #read: { after: number; events: readonly EventRow[] } | null = null
  readonly #texts = new Map<number, string>()

  constructor(store: Store) {
    this.#store = store
  }

  get size(): number {
    return this.#all.size
  }

  /**
   * Returns how to take it out again.
   * @throws Refusal `too_many` where its account, or all together, have as many as there may be
   */
  add(feed: Feed): () => void {
    const mine = this.#byAccount.get(feed.account) ?? 0
    if (mine >= LIMITS.eventsAccount) throw tooMany('readers of events', LIMITS.eventsAccount)
    if (this.#all.size >= LIMITS.eventsAll) throw tooMany('readers of events', LIMITS.eventsAll, 'the mailbox')
    this.#byAccount.set(feed.account, mine + 1)
    this.#all.add(feed)
    if (this.#unsubscribe.length === 0)
      this.#unsubscribe = [
        this.#store.onCommit((commits) => this.#hear(commits)),
        this.#store.registry.onAccount((account) => this.#changed(account)),
      ]
    return () => {
      if (this.#all.delete(feed)) this.#byAccount.set(feed.account, (this.#byAccount.get(feed.account) ?? 1) - 1)
      if (this.#all.size > 0) return
      for (const end of this.#unsubscribe.splice(0)) end()
      this.#forget()
    }
  }

  /** The events after that sequence, oldest first, a page at most. Readers at the same place share one read. */
  events(after: number): readonly EventRow[] {
    if (this.#read?.after !== after) {
      this.#forget()
      this.#read = { after, events: this.#store.events(after, PAGE) }
    }
    return this.#read.events
  }

  /** `make`: what an event is told as; made once while its page is read, and the same for all that may read it. */
  text(event: EventRow, make: (event: EventRow) => string): string {
    let text = this.#texts.get(event.id)
    if (text === undefined) {
      text = make(event)
      this.#texts.set(event.id, text)
    }
    return text
  }

  #forget(): void {
    this.#read = null
    this.#texts.clear()
  }

  #hear(commits: readonly Commit[]): void {
    this.#forget()
    const concerned = new Set<number>()
    let last = 0
    for (const commit of commits) {
      const message = commit.kind === 'sent' ? commit : this.#store.message(commit.event.message)
      if (message) involve(concerned, message)
      const asked = commit.kind === 'event' && commit.event.dispatch !== null ? commit.event.dispatch : null
      const dispatch = asked === null ? null : this.#store.dispatches.get(asked)
      if (dispatch) concerned.add(dispatch.agent).add(dispatch.by)
      last = Math.max(last, commit.kind === 'sent' ? commit.id : commit.event.id)
    }
    const { registry } = this.#store
    for (const feed of this.#all) {
      if (concerned.has(feed.account) || registry.accountById(feed.account)?.can.operator) feed.wake()
      else feed.skip(last)
    }
  }

  /** Whose token or rights are others now, or who is removed, looks at once whether it may go on. */
  #changed(account: number): void {
    for (const feed of this.#all) if (feed.account === account) feed.wake()
  }
}

/** Nobody else may read it, whatever the rooms are now. */
function involve(accounts: Set<number>, message: { account: number; recipients: readonly Recipient[] }): void {
  accounts.add(message.account)
  for (const to of message.recipients) accounts.add(to.account)
}
