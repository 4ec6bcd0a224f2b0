// Mail that nobody reads: for each account without a live session, how long its oldest letter has been waiting.
import { LIMITS } from '../../wire/limits.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { Checkup } from './checkup.ts'
import { type Found, fine, warn } from './finding.ts'

/** Milliseconds: thousands of accounts are asked one after another. */
export const UNREAD_MS = 15_000

export async function unread(checkup: Checkup): Promise<Found[]> {
  const { health } = await checkup.presence()
  if (health === null) return [fine('not asked, as no mailbox answers')]
  const answer = await checkup.readers()
  if (answer instanceof Refusal)
    return [fine(`not looked at: no account could ask (${answer.message})`, { kind: answer.kind })]
  const late = answer.waiting.filter(({ oldest_unread_age_secs }) => (oldest_unread_age_secs ?? 0) > LIMITS.undrained)
  if (late.length === 0) {
    const letters = answer.waiting.reduce((sum, { unread }) => sum + unread, 0)
    return [fine(letters === 0 ? 'none lies unread' : `${waits(letters)} for agents that are not running`, { letters })]
  }
  return late.map(({ target_text, unread, oldest_unread_age_secs, last_seen }) => {
    const secs = oldest_unread_age_secs ?? 0
    const age = ageOf(secs)
    const facts = { account: target_text, unread, oldest_unread_age_secs, last_seen }
    const what = `${waits(unread)} for ${target_text}, the oldest for ${age}, and no session of it runs`
    const todo = `start that agent, or read them: ${checkup.call} inbox --as ${target_text}`
    return { ...warn(what, todo, facts), of: target_text }
  })
}

function ageOf(secs: number): string {
  if (secs < 7_200) return `${Math.floor(secs / 60)} min`
  return secs < 86_400 ? `${Math.floor(secs / 3_600)} h` : `${Math.floor(secs / 86_400)} d`
}

const waits = (letters: number): string => (letters === 1 ? '1 waits' : `${letters} wait`)
