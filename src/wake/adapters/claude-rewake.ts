// Claude Code, its asyncRewake hook: our waiter, started by it at a session's start and at the end of each turn, ends with the text.
import { notReady, ready, type WakeAdapter, woken } from '../adapter.ts'
import { claudeRecord } from '../records/claude.ts'
import type { Standing } from '../standing.ts'
import type { Turns } from '../turns.ts'

const DOOR = 'claude-rewake'
/** Milliseconds until a turn has to be seen. */
const PROOF_MS = 4_000

export function claudeRewake(standing: Standing, turns: Turns): WakeAdapter {
  return {
    id: DOOR,
    tier: 'session',
    optIn: false,
    serves: ({ provider, session }) => provider === 'claude' && session !== null,
    async probe(target) {
      const seat = target.process && standing.seat(target.row, DOOR)
      if (!seat)
        return notReady('no waiter stands by: its hook is set up by mail4agent up, and begins with a session or a turn')
      return ready(claudeRecord(target)?.status === 'busy')
    },
    async wake(target, letter, signal) {
      const before = claudeRecord(target)?.status
      const called = turns.nextCall(target.row, PROOF_MS, signal)
      const given = await standing.give(target.row, DOOR, { message_id: letter.id, text: letter.text }, () => {})
      if (!given) return woken('refused', 'the waiter had left')
      if (before === 'busy')
        return woken('queued', 'it is at work; it comes with the next result of a tool or the end of the turn')
      if (before === 'waiting') return woken('queued', 'it waits for an answer of its user, and comes after that')
      const busy = async () => {
        for (const end = Date.now() + PROOF_MS; Date.now() < end && !signal.aborted; await Bun.sleep(25))
          if (claudeRecord(target)?.status === 'busy') return true
        return false
      }
      if (await Promise.race([called, busy()])) return woken('started', 'a turn began')
      return woken('unknown', 'the waiter was given the text, and no turn was seen to begin')
    },
  }
}
