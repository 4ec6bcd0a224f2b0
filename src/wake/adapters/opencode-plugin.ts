// opencode, our plugin in its own process: it prompts the session that was active last, and tells what became of it.
import { notReady, ready, type WakeAdapter, woken } from '../adapter.ts'
import type { Standing } from '../standing.ts'
import type { Turns } from '../turns.ts'

const DOOR = 'opencode-plugin'
/** Milliseconds: a cold opencode takes some three seconds for its first turn. */
const REPORT_MS = 8_000
const PROOF_MS = 5_000

export function opencodePlugin(standing: Standing, turns: Turns): WakeAdapter {
  return {
    id: DOOR,
    tier: 'session',
    optIn: false,
    serves: ({ provider, session }) => provider === 'opencode' && session !== null,
    async probe(target) {
      const seat = target.process && standing.seat(target.row, DOOR)
      if (!seat)
        return notReady('our plugin does not stand by: mail4agent up puts it in place, opencode loads it at its start')
      return ready(seat.busy)
    },
    async wake(target, letter, signal) {
      const reported = Promise.withResolvers<{ ok: boolean; busy?: boolean | null; detail?: string | null } | null>()
      const timer = setTimeout(() => reported.resolve(null), REPORT_MS)
      const called = turns.nextCall(target.row, REPORT_MS + PROOF_MS, signal)
      const given = await standing.give(
        target.row,
        DOOR,
        { message_id: letter.id, text: letter.text },
        reported.resolve,
      )
      if (!given) {
        clearTimeout(timer)
        return woken('refused', 'the plugin had left')
      }
      const said = await reported.promise
      clearTimeout(timer)
      if (said === null) return woken('unknown', 'the plugin was given the text and said nothing of it')
      if (!said.ok) return woken('refused', said.detail ?? 'opencode refused the prompt')
      if (said.busy) return woken('queued', 'it is at work; the prompt comes within that')
      const seen = await Promise.race([called, Bun.sleep(PROOF_MS).then(() => false)])
      return seen ? woken('started', 'a turn began') : woken('queued', 'accepted; no turn was seen to begin yet')
    },
  }
}
