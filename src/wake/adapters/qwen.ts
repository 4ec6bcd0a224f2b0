// Qwen Code: the file that it was told to read its input from; and the socket for its peers, where its user lets nothing in unseen.
import { appendFileSync, chmodSync, rmSync, statSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { dirname, isAbsolute, join } from 'node:path'
import { notReady, ready, type WakeAdapter, type WakeTarget, woken } from '../adapter.ts'
import { readRecord, textOf } from '../files.ts'
import { argumentsOf, optionOf } from '../process.ts'
import type { Turns } from '../turns.ts'

/** It looks into the file up to a second later. */
const PROOF_MS = 5_000

function inputFile(target: WakeTarget): string | null {
  const path = optionOf(argumentsOf(target), '--input-file')
  if (path === null) return null
  if (isAbsolute(path)) return path
  return target.cwd === null ? null : join(target.cwd, path)
}

const isOwn = (path: string, kind: 'file' | 'socket'): boolean => {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || found.uid !== process.geteuid?.()) return false
  return kind === 'file' ? found.isFile() : found.isSocket()
}

export function qwenInput(turns: Turns): WakeAdapter {
  return {
    id: 'qwen-input',
    tier: 'session',
    optIn: false,
    serves: ({ provider, session }) => provider === 'qwen' && session !== null,
    async probe(target) {
      const path = inputFile(target)
      if (path === null) return notReady('it was not started with --input-file')
      return isOwn(path, 'file') ? ready() : notReady('its input file is not there, or not of this user')
    },
    async wake(target, letter, signal) {
      const path = inputFile(target)
      if (path === null || !isOwn(path, 'file')) return woken('refused', 'its input file has gone')
      const called = turns.nextCall(target.row, PROOF_MS, signal)
      appendFileSync(path, `${JSON.stringify({ type: 'submit', text: letter.text })}\n`)
      if (await called) return woken('started', 'a turn began')
      return woken('queued', 'it is in its input file; no turn was seen to begin yet')
    },
  }
}

type Peer = { ipcPath: string; ipcToken: string; sessionId: string }

/** `~/.qwen/sessions/PID.json` of that very process. */
function peerOf({ environment, process }: WakeTarget): Peer | null {
  const home = environment.QWEN_HOME ?? (environment.HOME ? join(environment.HOME, '.qwen') : null)
  if (home === null || process === null) return null
  const record = readRecord(join(home, 'sessions', `${process.pid}.json`))
  const started = textOf(record?.procStart) ?? ''
  if (record === null || !(started === process.start || started.endsWith(`:${process.start}`))) return null
  const [ipcPath, ipcToken, sessionId] = [textOf(record.ipcPath), textOf(record.ipcToken), textOf(record.sessionId)]
  return ipcPath === null || ipcToken === null || sessionId === null ? null : { ipcPath, ipcToken, sessionId }
}

let sockets = 0

export const qwenPeer: WakeAdapter = {
  id: 'qwen-peer',
  tier: 'session',
  optIn: false,
  serves: ({ provider, session }) => provider === 'qwen' && session !== null,
  async probe(target) {
    const peer = peerOf(target)
    if (peer === null) return notReady('its record names no socket for peers')
    return isOwn(peer.ipcPath, 'socket') ? ready() : notReady('its socket for peers is gone, or not of this user')
  },
  async wake(target, letter, signal) {
    const peer = peerOf(target)
    if (peer === null) return woken('refused', 'it has gone')
    const mine = join(dirname(peer.ipcPath), `m4a-${process.pid}-${++sockets}.sock`)
    const server = createServer((one) => one.on('error', () => {}).resume())
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    server.on('error', reject)
    server.listen(mine, resolve)
    const socket = connect(peer.ipcPath)
    try {
      await promise
      chmodSync(mine, 0o600)
      const closed = new Promise<boolean>((done) => {
        socket.on('error', () => done(false))
        socket.on('close', () => done(false))
        setTimeout(() => done(true), 500).unref()
        signal.addEventListener('abort', () => done(false), { once: true })
      })
      const say = (message: object) => socket.write(`${JSON.stringify({ msgV: 1, ...message })}\n`)
      say({ type: 'auth', token: peer.ipcToken })
      say({
        type: 'user',
        msgId: letter.id,
        from: `uds:${mine}`,
        fromName: 'mail4agent',
        toSessionId: peer.sessionId,
        priority: 'next',
        message: { role: 'user', content: letter.text },
      })
      // it closes the connection of whom it does not know, and shows what others write to its user first
      if (await closed) return woken('held', 'its user looks at messages of peers first: /peers')
      return woken('refused', 'it closed the connection')
    } finally {
      socket.destroy()
      server.close()
      rmSync(mine, { force: true })
    }
  },
}
