// Listens to the log: an answer may settle a dispatch, and a ping letter to an agent is answered here, without a turn of it.
import { isPingLetter } from '../../engine/dispatch/ping-letter.ts'
import { readFragment } from '../../engine/fragment.ts'
import { replySubjectOf } from '../../engine/reply.ts'
import { writeAsMailbox } from '../../engine/system.ts'
import { KIND, type MessageRow } from '../../store/rows.ts'
import type { Store } from '../../store/store.ts'
import { recipientOf } from './dispatcher.ts'
import type { Log } from './shop.ts'

const SUBSCRIBER = 'dispatch'
const PAGE = 500
/** The cursor is written when something was done, and else once in so many letters. */
const WRITE_EVERY = 1_000

/** `look`: something may have been settled. Returns how to stop. */
export function listen(store: Store, look: () => void, log: Log): () => void {
  let cursor = store.cursor(SUBSCRIBER) || store.head
  let written = cursor
  let running = false
  let stopped = false

  async function answer(message: MessageRow): Promise<void> {
    const stored = readFragment(message.json)
    if (!isPingLetter(stored.body)) return
    for (const to of message.recipients) {
      const account = store.registry.accountById(to.account)
      if (to.kind !== KIND.account || !account || !store.dispatches.agent(to.account)) continue
      const back = recipientOf(store, message.account, message.senderBox, ({ ended }) => ended === null)
      const subject = replySubjectOf(stored.subject)
      if (back)
        await writeAsMailbox(store, {
          to: [back],
          subject,
          body: 'ack',
          parent: message,
          key: `ping-${message.id}-${to.account}`,
          upsert: null,
        })
      const { session } = await store.people.system()
      await store.settle(account, session, [message.id], 'acknowledged')
    }
  }

  async function readOn(): Promise<void> {
    while (!stopped && cursor < store.head) {
      const events = store.events(cursor, PAGE)
      if (events.length === 0) break
      for (const { id, kind } of events) {
        const message = kind === 'sent' && store.dispatches.agents().length > 0 ? store.message(id) : null
        if (message) await answer(message)
        cursor = id
      }
      if (cursor - written >= WRITE_EVERY) save()
    }
  }

  function save(): void {
    if (cursor === written) return
    written = cursor
    store.setCursor(SUBSCRIBER, cursor)
  }

  function wake(): void {
    if (stopped || running) return
    running = true
    let failed = false
    void readOn()
      .catch((error) => {
        failed = true
        log('pings could not be answered', { error: error instanceof Error ? error.message : 'failed' })
      })
      .finally(() => {
        running = false
        if (stopped || store.dispatches.agents().length === 0) return
        save()
        if (cursor < store.head && !failed) wake()
      })
  }

  wake()
  const unsubscribe = store.onCommit((commits) => {
    const { dispatches } = store
    if (dispatches.agents().length === 0) {
      cursor = store.head
      return
    }
    const open = new Set(dispatches.open().map(({ agent }) => agent))
    let letters = false
    for (const commit of commits) {
      if (commit.kind === 'event') {
        if (commit.event.kind === 'closed' && open.has(commit.event.account)) look()
        continue
      }
      if (open.has(commit.account)) look()
      letters ||= commit.recipients.some((to) => to.kind === KIND.account && dispatches.agent(to.account) !== undefined)
    }
    if (letters) wake()
  })
  return () => {
    stopped = true
    unsubscribe()
    save()
  }
}
