// What a commit means for those who may be woken: mail that came into a mailbox, or mail that somebody has read.
import type { Mail } from '../engine/mail.ts'
import type { Commit } from '../store/store.ts'
import { LIMITS } from '../wire/limits.ts'
import { isTaken } from './once.ts'
import { concerns } from './sift.ts'

export type News = { kind: 'came'; box: number; account: number; id: number } | { kind: 'read'; id: number }

/** Number of the letter or the event in the store's sequence. */
export const numberOf = (commit: Commit): number => (commit.kind === 'sent' ? commit.id : commit.event.id)

/** `waits`: is a letter of that mailbox still to be looked at? */
export function* newsOf({ registry }: Mail['store'], commit: Commit, waits: (box: number) => boolean): Generator<News> {
  if (commit.kind === 'sent') {
    if (commit.hop > LIMITS.hopQuiet) return
    for (const to of commit.recipients) {
      if (!concerns(to, commit.account)) continue
      // a signal that replaces one which nobody has opened is no news, unless that one is still waiting itself
      if (commit.quiet.includes(to.box) && !waits(to.box)) continue
      yield { kind: 'came', box: to.box, account: to.account, id: commit.id }
    }
    return
  }
  const { kind, message, account } = commit.event
  if (kind === 'opened' || kind === 'closed') yield { kind: 'read', id: message }
  const owner = kind === 'released' ? registry.accountById(account) : undefined
  if (owner) yield { kind: 'came', box: owner.box, account: owner.id, id: message }
}

/** Of a letter that came while nobody watched. One that a wake has spoken for before is not told again. */
export function* missedNews(store: Mail['store'], id: number): Generator<News & { kind: 'came' }> {
  const message = store.message(id)
  if (!message || message.hop > LIMITS.hopQuiet) return
  for (const to of message.recipients) {
    if (!concerns(to, message.account)) continue
    const woken = store.wakes.log(to.box, 10).find(({ outcome }) => isTaken(outcome))
    if (woken && woken.message >= id) continue
    yield { kind: 'came', box: to.box, account: to.account, id }
  }
}
