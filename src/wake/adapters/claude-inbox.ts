// Claude Code, the socket on which its sessions write to each other: undocumented, so only where its user allows it.
import { chmodSync, rmSync, statSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { notReady, ready, type WakeAdapter, type Woken, woken } from '../adapter.ts'
import { claudePeerToken, claudeRecord, claudeTranscript } from '../records/claude.ts'
import { grownBy } from '../transcript.ts'

/** Milliseconds: it writes down what it has taken within 50, and says no within 5. */
const PROOF_MS = 3_000
let sockets = 0

export const claudeInbox: WakeAdapter = {
  id: 'claude-inbox',
  tier: 'session',
  optIn: true,
  serves: ({ provider, session }) => provider === 'claude' && session !== null,
  async probe(target) {
    const record = claudeRecord(target)
    if (record?.socket == null) return notReady('its record names no inbox')
    if (!isOwnSocket(record.socket)) return notReady('its inbox is gone, or not of this user')
    return ready(record.status === 'busy')
  },
  async wake(target, letter, signal) {
    const record = claudeRecord(target)
    if (record?.socket == null || !isOwnSocket(record.socket)) return woken('refused', 'its inbox has gone')
    const path = record.socket
    const id = crypto.randomUUID()
    const told = Promise.withResolvers<Woken>()
    const mine = join(dirname(path), `${process.pid}-${++sockets}.sock`)
    const server = await receipts(mine, id, told.resolve)
    const grown = grownBy(claudeTranscript(target, record))
    const socket = connect(path)
    try {
      const token = claudePeerToken(target)
      socket.on('error', () => told.resolve(woken('refused', 'its inbox does not answer')))
      socket.on('connect', () => {
        if (token !== null) socket.write(`${JSON.stringify({ type: 'auth', token })}\n`)
        // a wrong session_id is dropped by it: a guard where the pid was reused
        socket.write(
          `${JSON.stringify({ type: 'user', session_id: record.sessionId, from: `uds:${mine}`, msg_id: id, message: { role: 'user', content: letter.text } })}\n`,
        )
      })
      const taken = async (): Promise<Woken> => {
        for (const end = Date.now() + PROOF_MS; Date.now() < end && !signal.aborted; await Bun.sleep(20))
          if (grown().some((line) => isTaken(line, letter.text)))
            return record.status === 'idle'
              ? woken('started', 'it took it into its turn')
              : woken('queued', 'it is at work')
        return woken('unknown', 'it was written there, and nothing tells what became of it')
      }
      return await Promise.race([told.promise, taken()])
    } finally {
      socket.destroy()
      server.close()
      rmSync(mine, { force: true })
    }
  },
}

function isOwnSocket(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.isSocket() === true && found.uid === process.geteuid?.()
}

function isTaken(line: string, text: string): boolean {
  return line.includes('"queue-operation"') && line.includes('"enqueue"') && line.includes(JSON.stringify(text))
}

/** It answers only what it does not take at once: held for its user, or refused by a setting of its user. */
function receipts(path: string, id: string, told: (woken: Woken) => void): Promise<Server> {
  const server = createServer((peer) => {
    let rest = ''
    peer.on('error', () => {})
    peer.on('data', (data) => {
      const lines = (rest + data.toString('utf8')).split('\n')
      rest = (lines.pop() ?? '').slice(-65_536)
      for (const line of lines) {
        const status = statusIn(line, id)
        if (status === 'held') told(woken('held', 'its user has to let it in'))
        else if (status !== null && status !== 'delivered') told(woken('refused', 'its user lets no messages in'))
      }
    })
  })
  const { promise, resolve, reject } = Promise.withResolvers<Server>()
  server.on('error', reject)
  server.listen(path, () => {
    chmodSync(path, 0o600)
    resolve(server)
  })
  return promise
}

function statusIn(line: string, id: string): string | null {
  try {
    const found: unknown = JSON.parse(line)
    if (typeof found !== 'object' || found === null || !('orig_msg_id' in found) || found.orig_msg_id !== id)
      return null
    return 'status' in found && typeof found.status === 'string' ? found.status : null
  } catch {
    return null
  }
}
