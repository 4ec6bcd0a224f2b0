// `codex queue`: keeps a message for a thread, and says so whether or not anybody runs it. Its text is an argument, which others see.
import { access, constants } from 'node:fs/promises'
import { notReady, ready, type WakeAdapter, type WakeTarget, woken } from '../adapter.ts'
import { codexHome } from '../codex-server.ts'
import { argumentsOf } from '../process.ts'
import { programOf, runProgram } from '../spawn.ts'
import type { Turns } from '../turns.ts'

const THREAD = /^[0-9a-f-]{36}$/
/** A thread that is open starts within 0.3 s (seen). */
const PROOF_MS = 3_000

export function codexQueue(turns: Turns, env: Readonly<Record<string, string | undefined>>): WakeAdapter {
  /** Session → the letter that it was given last: the same twice would be two turns. */
  const given = new Map<number, string>()
  const program = (target: WakeTarget) => programOf('codex', target, env)
  return {
    id: 'codex-queue',
    tier: 'session',
    optIn: false,
    serves: ({ provider, session }) => provider === 'codex' && session !== null,
    async probe(target) {
      if (!THREAD.test(target.conversation ?? '')) return notReady('which of its threads is meant is not known')
      // it would only store the message, and the thread would run it at some later time
      if (target.process === null) return notReady('no Codex has the thread open')
      const words = argumentsOf(target)
      if (words.includes('exec') || words.includes('e')) return notReady('codex exec takes no messages while it runs')
      const path = program(target)
      if (path === null) return notReady('codex is not on the path of the mailbox')
      await access(path, constants.X_OK)
      return ready()
    },
    async wake(target, letter, signal) {
      const path = program(target)
      const home = codexHome(target)
      if (path === null) return woken('refused', 'codex has gone')
      if (given.get(target.row) === letter.id) return woken('stored', 'Codex keeps it already')
      const called = turns.nextCall(target.row, PROOF_MS, signal)
      const words = [path, 'queue', '--thread', target.conversation ?? '', '--message', letter.plain]
      const more = home === null ? {} : { CODEX_HOME: home }
      const { code } = await runProgram(words, { env, more, cwd: target.cwd, input: null }, signal)
      if (code === 0) given.set(target.row, letter.id)
      if (code !== 0) return woken('refused', `codex queue ended with ${code}`)
      if (await called) return woken('started', 'a turn began')
      return woken('stored', 'Codex keeps it; no turn was seen to begin')
    },
  }
}
