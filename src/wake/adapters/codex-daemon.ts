// Codex, its own daemon: the letter is queued for its thread, runs at once when that is idle, and after the turn when it is not.
import { notReady, ready, type WakeAdapter, type WakeTarget, woken } from '../adapter.ts'
import { CodexSaysNo, type CodexServer, codexSocket, isLoaded, openCodex } from '../codex-server.ts'

/** Milliseconds until the turn of an idle thread has to be seen. */
const PROOF_MS = 2_000

const threadOf = ({ conversation, providerSession }: WakeTarget): string | null => conversation ?? providerSession

async function withServer<T>(
  target: WakeTarget,
  signal: AbortSignal,
  work: (server: CodexServer) => Promise<T>,
): Promise<T | null> {
  const path = codexSocket(target)
  if (path === null) return null
  const server = await openCodex(path, signal)
  try {
    return await work(server)
  } finally {
    server.close()
  }
}

/** `load`: also a thread that no client has open, whose turn then runs with nobody looking. */
function daemonDoor(id: string, load: boolean): WakeAdapter {
  return {
    id,
    tier: load ? 'spawn' : 'session',
    optIn: load,
    serves: (target) => target.provider === 'codex' && target.session !== null && threadOf(target) !== null,
    async probe(target, signal) {
      const thread = threadOf(target) ?? ''
      const loaded = await withServer(target, signal, (server) => isLoaded(server, thread))
      if (loaded === null) return notReady('no daemon of Codex has its control socket there')
      if (load ? loaded : !loaded)
        return notReady(load ? 'the thread is open' : 'the daemon of Codex does not have that thread open')
      return ready()
    },
    async wake(target, letter, signal) {
      const thread = threadOf(target) ?? ''
      const outcome = await withServer(target, signal, async (server) => {
        try {
          if (!load && !(await isLoaded(server, thread))) return woken('refused', 'the thread was closed meanwhile')
          await server.call('thread/resume', { threadId: thread, excludeTurns: true })
          const started = server.notice(
            (method, params) => method === 'item/started' && isOf(params, letter.id),
            PROOF_MS,
          )
          await server.call('thread/queue/add', {
            threadId: thread,
            clientUserMessageId: letter.id,
            input: [{ type: 'text', text: letter.text, text_elements: [] }],
          })
          if (await started) return woken('started', 'a turn began with it')
          return woken('queued', 'Codex keeps it until the turn at hand is over')
        } catch (error) {
          if (error instanceof CodexSaysNo) return woken('refused', 'Codex said no')
          throw error
        }
      })
      return outcome ?? woken('refused', 'the daemon has gone')
    },
  }
}

function isOf({ item }: Readonly<Record<string, unknown>>, id: string): boolean {
  return typeof item === 'object' && item !== null && 'clientId' in item && item.clientId === id
}

export const codexDaemon = daemonDoor('codex-daemon', false)
export const codexLoad = daemonDoor('codex-load', true)
