// A new process that goes on with an ended session: only where nobody holds that session, and only where the owner allows it.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { notReady, ready, type WakeAdapter, type WakeLetter, type WakeTarget, woken } from '../adapter.ts'
import { codexSocket } from '../codex-server.ts'
import { namesIn, readRecord } from '../files.ts'
import { claudeFolder } from '../records/claude.ts'
import { programOf, type Started, startProgram } from '../spawn.ts'

type Client = {
  program: string
  id: RegExp
  /** `text`: what may stand in argv. */
  args: (id: string, text: string) => string[]
  /** The letter goes to its standard input, and nothing of it to argv. */
  stdin: boolean
  /** Why somebody else may hold the session, or null. */
  held?: (target: WakeTarget) => string | null
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const ANY = /^[A-Za-z0-9_-]{8,128}$/

/** Those whose input is an argument get the text that holds no words of the sender. */
const CLIENTS: Readonly<Record<string, Client>> = {
  claude: { program: 'claude', id: UUID, args: (id) => ['-p', '--resume', id], stdin: true, held: claudeHeld },
  codex: {
    program: 'codex',
    id: UUID,
    args: (id) => ['exec', '--skip-git-repo-check', 'resume', id, '-'],
    stdin: true,
    // one writer a thread: the daemon would have it
    held: (target) => (codexSocket(target) === null ? null : 'a daemon of Codex runs, and would be in the way'),
  },
  opencode: { program: 'opencode', id: /^ses_[A-Za-z0-9]{8,64}$/, args: (id) => ['run', '--session', id], stdin: true },
  gemini: { program: 'gemini', id: UUID, args: (id, text) => ['--resume', id, '-p', text], stdin: false },
  qwen: { program: 'qwen', id: UUID, args: (id, text) => ['--resume', id, '-p', text], stdin: false },
  copilot: { program: 'copilot', id: UUID, args: (id, text) => [`--resume=${id}`, '-p', text], stdin: false },
  kimi: { program: 'kimi', id: ANY, args: (id, text) => ['-S', id, '-p', text], stdin: false },
  grok: { program: 'grok', id: ANY, args: (id, text) => ['--resume', id, '-p', text], stdin: false },
  'cursor-agent': { program: 'cursor-agent', id: UUID, args: (id, text) => ['--resume', id, '-p', text], stdin: false },
}

/** Claude Code lets two processes write one session, and each then sees half of it. Its records name who holds which. */
function claudeHeld(target: WakeTarget): string | null {
  const folder = claudeFolder(target)
  if (folder === null) return 'where its records are is not known'
  for (const name of namesIn(join(folder, 'sessions'))) {
    const record = /^[0-9]+\.json$/.test(name) ? readRecord(join(folder, 'sessions', name)) : null
    if (record?.sessionId === target.providerSession && existsSync(`/proc/${Number(record?.pid)}`))
      return 'a process of Claude Code holds the session'
  }
  return null
}

/** Milliseconds until the new process has to call. */
const PROOF_MS = 20_000

export type ResumeParts = {
  env: Readonly<Record<string, string | undefined>>
  /** When a session of the account called last (ms). */
  lastCall: (account: string) => number
  now: () => number
}

/** One door for each client: `claude-resume`, `codex-resume`, … */
export function resumeDoors(parts: ResumeParts): WakeAdapter[] {
  const running = new Map<string, Started>()
  return Object.entries(CLIENTS).map(([provider, client]) => resumeDoor(provider, client, parts, running))
}

function resumeDoor(
  provider: string,
  client: Client,
  { env, lastCall, now }: ResumeParts,
  running: Map<string, Started>,
): WakeAdapter {
  return {
    id: `${client.program}-resume`,
    tier: 'spawn',
    optIn: true,
    serves: (target) => target.provider === provider && target.session !== null,
    async probe(target) {
      if (target.process !== null) return notReady('the session runs: a second process would write it too')
      if (target.attended) return notReady('another session of the account runs, and has the mail')
      if (!client.id.test(target.providerSession ?? ''))
        return notReady("the client's own id of the session is not known")
      if (running.has(target.account)) return notReady('the process that was started for it still runs')
      const held = client.held?.(target) ?? null
      if (held !== null) return notReady(held)
      return programOf(client.program, target, env) === null
        ? notReady(`${client.program} is not on the path`)
        : ready()
    },
    async wake(target, letter, signal) {
      const path = programOf(client.program, target, env)
      if (path === null || running.has(target.account)) return woken('refused', 'it is not there any more')
      const began = now()
      const started = startProgram([path, ...client.args(target.providerSession ?? '', letter.plain)], {
        env,
        more: target.environment,
        cwd: target.cwd !== null && existsSync(target.cwd) ? target.cwd : null,
        input: inputOf(client, letter),
      })
      running.set(target.account, started)
      let code: number | null = null
      void started.exited.then((ended) => {
        code = ended
        running.delete(target.account)
      })
      for (const end = now() + PROOF_MS; now() < end && !signal.aborted; await Bun.sleep(100)) {
        if (lastCall(target.account) > began)
          return woken('started', 'a new process goes on with the session, and has called')
        if (code !== null && code !== 0) return woken('refused', `the new process ended with ${code}`)
        if (code === 0) return woken('unknown', 'the new process ended in order, and did not call')
      }
      return woken('unknown', 'a new process was started and runs, and has not called yet')
    },
  }
}

const inputOf = ({ stdin }: Client, { text }: WakeLetter): string | null => (stdin ? text : null)
