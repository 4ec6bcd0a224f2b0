// Any agent that speaks ACP: a host of ours for each account goes on with its session. Prompts wait their turn here: some agents end
// the turn at hand for a second one.
import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { notReady, ready, type WakeAdapter, type Woken, woken } from '../adapter.ts'
import { isObject } from '../loopback.ts'
import { ownerDoor } from '../owner.ts'
import { passedOn } from '../spawn.ts'

type Place = { dataDir: string; env: Readonly<Record<string, string | undefined>> }

/** Milliseconds for each step before the prompt, and until the turn is seen. */
const SETUP_MS = 20_000
const PROOF_MS = 8_000
/** A turn that takes longer is ended. */
const TURN_MS = 3_600_000

export function acpHost({ dataDir, env }: Place): WakeAdapter {
  /** Account → the turn that its host is in. */
  const turns = new Map<string, Promise<void>>()
  return {
    id: 'acp-host',
    tier: 'spawn',
    optIn: true,
    serves: ({ session }) => session !== null,
    async probe(target) {
      const words = ownerDoor(dataDir, target.account, 'acp')
      if (typeof words === 'string') return notReady(words)
      if (target.process !== null || target.attended)
        return notReady('a session of the account runs: two would write it')
      if (target.providerSession === null) return notReady("the agent's own id of the session is not known")
      if (!isAbsolute(words[0] ?? '') || !existsSync(words[0] ?? '')) return notReady('its program is not there')
      return ready(turns.has(target.account))
    },
    async wake(target, letter, signal) {
      const words = ownerDoor(dataDir, target.account, 'acp')
      if (typeof words === 'string' || target.providerSession === null) return woken('refused', 'nothing is set up')
      const before = turns.get(target.account)
      const cwd = target.cwd !== null && existsSync(target.cwd) ? target.cwd : dataDir
      const run = async (): Promise<Woken> => {
        const host = new AcpHost(words, { ...passedOn(env), ...target.environment }, cwd)
        const { started, over } = host.prompt(target.providerSession ?? '', cwd, letter.text, signal)
        const kept = over.finally(() => {
          host.end()
          if (turns.get(target.account) === kept) turns.delete(target.account)
        })
        turns.set(target.account, kept)
        return started
      }
      if (before === undefined) return run()
      void before.then(run, run)
      return woken('queued', 'its host runs a turn, and this one after that')
    },
  }
}

type Prompted = { started: Promise<Woken>; over: Promise<void> }

/** One run of the agent: JSON-RPC, a line each, over its standard streams (Agent Client Protocol). */
class AcpHost {
  readonly #child
  readonly #waiting = new Map<number, (message: Readonly<Record<string, unknown>>) => void>()
  #updates: () => void = () => {}
  #last = 0

  constructor(words: readonly string[], env: Record<string, string>, cwd: string) {
    this.#child = Bun.spawn([...words], { cwd, env, stdin: 'pipe', stdout: 'pipe', stderr: 'ignore' })
    void this.#read(this.#child.stdout).catch(() => {})
  }

  prompt(session: string, cwd: string, text: string, signal: AbortSignal): Prompted {
    const started = Promise.withResolvers<Woken>()
    const work = async () => {
      await this.#call('initialize', {
        protocolVersion: 1,
        clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
        clientInfo: { name: 'mail4agent', version: '0' },
      })
      await this.#call('session/load', { sessionId: session, cwd, mcpServers: [] })
      if (signal.aborted) return started.resolve(woken('refused', 'cut short'))
      // what it repeats of the past comes before this
      this.#updates = () => started.resolve(woken('started', 'a turn began'))
      const late = setTimeout(
        () => started.resolve(woken('unknown', 'it took the prompt, and no turn was seen')),
        PROOF_MS,
      )
      const ended = this.#call('session/prompt', { sessionId: session, prompt: [{ type: 'text', text }] }, TURN_MS)
      await ended.then(
        () => started.resolve(woken('started', 'the turn is over')),
        () => started.resolve(woken('unknown', 'it took the prompt and failed')),
      )
      clearTimeout(late)
    }
    const over = work().catch(() => started.resolve(woken('refused', 'it does not go on with that session')))
    return { started: started.promise, over }
  }

  end(): void {
    this.#child.kill('SIGKILL')
  }

  #call(method: string, params: object, ms = SETUP_MS): Promise<void> {
    const id = ++this.#last
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => reject(new Error('late')), ms)
    this.#waiting.set(id, (message) => {
      clearTimeout(timer)
      if (message.error === undefined) resolve()
      else reject(new Error('refused'))
    })
    void this.#child.exited.then(() => reject(new Error('ended')))
    this.#write({ id, method, params })
    return promise
  }

  #write(message: object): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    this.#child.stdin.flush()
  }

  async #read(output: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const part of output) {
      const lines = (rest + decoder.decode(part, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.#take(line)
    }
  }

  #take(line: string): void {
    if (!line.trimStart().startsWith('{')) return
    const message: unknown = JSON.parse(line)
    if (!isObject(message)) return
    const { id, method } = message
    if (typeof method !== 'string') {
      if (typeof id === 'number') this.#waiting.get(id)?.(message)
    } else if (id === undefined) this.#updates()
    // nobody is here to allow anything
    else if (method === 'session/request_permission') this.#write({ id, result: { outcome: { outcome: 'cancelled' } } })
    else this.#write({ id, error: { code: -32_601, message: 'not offered' } })
  }
}
