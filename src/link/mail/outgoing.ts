// The subscriber of the log that fills the outbox: mail to other machines, and what became of theirs here. Its cursor survives a crash.
import { isImported } from '../../engine/fragment.ts'
import type { Mail } from '../../engine/mail.ts'
import type { LinkStore } from '../../store/link/link-store.ts'
import type { EventRow, Recipient } from '../../store/rows.ts'
import type { Commit } from '../../store/store.ts'
import { receiptFor } from './receipts.ts'
import { machineOf } from './remotes.ts'

/** What it is called in the table of cursors. */
export const SUBSCRIBER = 'link'
const PAGE = 500
/** Commits after which the cursor is moved although none of them was for another machine. */
const SAVE = 1_000
const AGAIN_MS = 5_000

export class Outgoing {
  #stop: (() => void) | null = null
  #behind: Timer | null = null
  #unsaved = 0

  constructor(
    private readonly mail: Mail,
    private readonly links: LinkStore,
    private readonly kick: (peer: string) => void,
  ) {}

  start(): void {
    try {
      this.#catchUp()
    } catch {
      this.#later()
      return
    }
    this.#stop = this.mail.store.onCommit((commits) => this.#hear(commits))
  }

  #later(): void {
    this.#behind ??= setTimeout(() => {
      this.#behind = null
      this.start()
    }, AGAIN_MS)
  }

  stop(): void {
    if (this.#behind) clearTimeout(this.#behind)
    this.#stop?.()
  }

  /** What was committed since the cursor was last moved: an item that is there already stays one. */
  #catchUp(): void {
    const { store } = this.mail
    for (let after = store.cursor(SUBSCRIBER); ; ) {
      const events = store.events(after, PAGE)
      this.#queue(events.flatMap((event) => this.#itemsOf(event)))
      after = events.at(-1)?.id ?? after
      if (events.length < PAGE) return store.setCursor(SUBSCRIBER, after)
    }
  }

  /** A store of the link that cannot be written now (a full disk) must not stop the mailbox: the cursor stays where it was. */
  #hear(commits: readonly Commit[]): void {
    try {
      this.#take(commits)
    } catch {
      this.#stop?.()
      this.#later()
    }
  }

  #take(commits: readonly Commit[]): void {
    const items = commits.flatMap((commit) =>
      commit.kind === 'sent'
        ? this.#mailItems(commit.id, commit.account, commit.recipients)
        : this.#itemsOf(commit.event),
    )
    const last = commits.at(-1)
    this.#unsaved += commits.length
    if (!last || (items.length === 0 && this.#unsaved < SAVE)) return
    this.#queue(items)
    this.#unsaved = 0
    this.mail.store.setCursor(SUBSCRIBER, last.kind === 'sent' ? last.id : last.event.id)
  }

  #itemsOf(event: EventRow): { peer: string; message?: number; receipt?: string }[] {
    if (event.kind === 'sent') {
      const message = this.mail.store.message(event.message)
      // what was carried in from elsewhere has been where it was going
      return message && !isImported(message.json)
        ? this.#mailItems(message.id, message.account, message.recipients)
        : []
    }
    const due = receiptFor(this.mail, this.links, event)
    return due ? [due] : []
  }

  /** What came from another machine goes to no other one. */
  #mailItems(message: number, from: number, recipients: readonly Recipient[]) {
    const { registry } = this.mail.store
    const peers = new Set<string>()
    for (const to of recipients) {
      const account = registry.accountById(to.account)
      if (account?.kind === 'remote') peers.add(machineOf(account))
    }
    if (peers.size === 0 || registry.accountById(from)?.kind === 'remote') return []
    return [...peers].map((peer) => ({ peer, message }))
  }

  #queue(items: readonly { peer: string; message?: number; receipt?: string }[]): void {
    if (items.length === 0) return
    this.links.outbox.queue(items)
    for (const peer of new Set(items.map((one) => one.peer))) this.kick(peer)
  }
}
