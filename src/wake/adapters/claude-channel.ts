// Claude Code, its channels: `mail4agent channel`, an MCP server of the session, rings in it. What it does not take it drops in silence.
import { notReady, ready, type WakeAdapter, woken } from '../adapter.ts'
import { claudeRecord, claudeTranscript } from '../records/claude.ts'
import type { Standing } from '../standing.ts'
import { grownBy } from '../transcript.ts'

const DOOR = 'claude-channel'
/** Milliseconds until it has written down what it was given. */
const PROOF_MS = 4_000

export function claudeChannel(standing: Standing): WakeAdapter {
  /** Row ids of sessions that showed nothing of what they were given: their channel is off, and says so to nobody. */
  const silent = new Set<number>()
  return {
    id: DOOR,
    tier: 'session',
    optIn: false,
    serves: ({ provider, session }) => provider === 'claude' && session !== null,
    async probe(target) {
      const seat = target.process && standing.seat(target.row, DOOR)
      if (!seat) {
        silent.delete(target.row)
        return notReady('no channel stands by: mail4agent help channel says how Claude Code is started with one')
      }
      if (silent.has(target.row))
        return notReady(
          'the session showed nothing of the last text that its channel was given: channels are off there',
        )
      return ready(claudeRecord(target)?.status === 'busy')
    },
    async wake(target, letter, signal) {
      const record = claudeRecord(target)
      const grown = grownBy(record && claudeTranscript(target, record))
      const given = await standing.give(target.row, DOOR, { message_id: letter.id, text: letter.text }, () => {})
      if (!given) return woken('refused', 'the channel had left')
      for (const end = Date.now() + PROOF_MS; Date.now() < end && !signal.aborted; await Bun.sleep(25))
        if (grown().some((line) => isTaken(line, letter.id)))
          return record?.status === 'idle'
            ? woken('started', 'it took it into its turn')
            : woken('queued', 'it took it in, to come within its work or after that')
      silent.add(target.row)
      return woken('unknown', 'the channel was given the text, and the session shows nothing of it')
    },
  }
}

/** A line of the transcript, JSON: what the client makes of a notification names the letter as an attribute. */
const isTaken = (line: string, id: string): boolean =>
  line.includes('<channel source=') && line.includes(JSON.stringify(`letter_id="${id}"`).slice(1, -1))
