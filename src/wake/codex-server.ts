// Codex's app-server as a client of it: requests and notices as JSON without `jsonrpc`, over its control socket.
import { lstatSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { WakeTarget } from './adapter.ts'
import { openWebSocket } from './ws-unix.ts'

type Json = Readonly<Record<string, unknown>>
export type CodexServer = {
  /** Rejects with `CodexSaysNo` for an error that the server answers. */
  call(method: string, params: Json): Promise<Json>
  /** Resolves to true once such a notice comes. */
  notice(test: (method: string, params: Json) => boolean, ms: number): Promise<boolean>
  close(): void
}

export class CodexSaysNo extends Error {}

export function codexHome({ environment }: WakeTarget): string | null {
  if (environment.CODEX_HOME) return environment.CODEX_HOME
  return environment.HOME ? join(environment.HOME, '.codex') : null
}

/** The socket of the daemon of that user; null where there is none. It is a link to a place with a shorter path. */
export function codexSocket(target: WakeTarget): string | null {
  const home = codexHome(target)
  if (home === null) return null
  const path = join(home, 'app-server-control', 'app-server-control.sock')
  try {
    const real = realpathSync(path)
    const own = process.geteuid?.()
    if (!statSync(real).isSocket() || statSync(real).uid !== own || lstatSync(path).uid !== own) return null
    return real
  } catch {
    return null
  }
}

/** @throws where nobody answers there */
export async function openCodex(path: string, signal: AbortSignal): Promise<CodexServer> {
  const waiting = new Map<number, { resolve: (result: Json) => void; reject: (error: Error) => void }>()
  const listening = new Set<{ test: (method: string, params: Json) => boolean; heard: (yes: boolean) => void }>()
  const end = () => {
    for (const { reject } of waiting.values()) reject(new Error('closed'))
    for (const { heard } of listening) heard(false)
  }
  const take = (text: string) => {
    const message: unknown = JSON.parse(text)
    if (!isObject(message)) return
    const { id, method, params, result, error } = message
    if (typeof method === 'string') {
      // its questions, such as for approvals, are its user's to answer
      for (const one of listening) if (one.test(method, isObject(params) ? params : {})) one.heard(true)
      return
    }
    const call = typeof id === 'number' ? waiting.get(id) : undefined
    if (!call || typeof id !== 'number') return
    waiting.delete(id)
    if (isObject(error)) call.reject(new CodexSaysNo(String(error.message ?? 'an error')))
    else call.resolve(isObject(result) ? result : {})
  }
  const socket = await openWebSocket(path, { text: take, close: end }, signal)
  let last = 0
  const server: CodexServer = {
    call(method, params) {
      const id = ++last
      const { promise, resolve, reject } = Promise.withResolvers<Json>()
      waiting.set(id, { resolve, reject })
      socket.send(JSON.stringify({ id, method, params }))
      return promise
    },
    notice(test, ms) {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const timer = setTimeout(() => one.heard(false), ms)
      const one = {
        test,
        heard: (yes: boolean) => {
          clearTimeout(timer)
          listening.delete(one)
          resolve(yes)
        },
      }
      listening.add(one)
      return promise
    },
    close: () => socket.close(),
  }
  await server.call('initialize', {
    clientInfo: { name: 'mail4agent', title: 'mail4agent', version: '0' },
    capabilities: { experimentalApi: true },
  })
  socket.send(JSON.stringify({ method: 'initialized' }))
  return server
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

export async function isLoaded(server: CodexServer, thread: string): Promise<boolean> {
  const { data } = await server.call('thread/loaded/list', {})
  return Array.isArray(data) && data.includes(thread)
}
