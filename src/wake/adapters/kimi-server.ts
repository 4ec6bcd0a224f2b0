// Kimi Code, its own server (`kimi web`): a prompt for one of its sessions. A plain session in a terminal has none.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { notReady, ready, type WakeAdapter, type WakeTarget, woken } from '../adapter.ts'
import { namesIn, readOwn, readRecord } from '../files.ts'
import { askLoopback, isObject } from '../loopback.ts'

const ID = /^[A-Za-z0-9_-]{1,128}$/

type Server = { pid: number; port: number; token: string }

function homeOf({ environment }: WakeTarget): string | null {
  if (environment.KIMI_CODE_HOME) return environment.KIMI_CODE_HOME
  return environment.HOME ? join(environment.HOME, '.kimi-code') : null
}

/** The one that was heard of last, of those whose process lives. */
function serverOf(target: WakeTarget): Server | null {
  const home = homeOf(target)
  if (home === null) return null
  const folder = join(home, 'server', 'instances')
  const found = namesIn(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => readRecord(join(folder, name)) ?? {})
    .filter(({ pid, port }) => typeof port === 'number' && Number.isInteger(pid) && existsSync(`/proc/${Number(pid)}`))
    .sort((a, b) => Number(b.heartbeat_at ?? 0) - Number(a.heartbeat_at ?? 0))[0]
  const token = readOwn(join(home, 'server.token'), true)?.trim()
  return found && token && /^[\x21-\x7e]+$/.test(token)
    ? { pid: Number(found.pid), port: Number(found.port), token }
    : null
}

/**
 * The one that the process shows. The server itself runs all of its sessions, and names none to the mailbox: the one that
 * was at work last.
 */
async function sessionOf(target: WakeTarget, server: Server, signal: AbortSignal): Promise<string | null> {
  const named = target.conversation ?? target.providerSession
  if (named !== null) return ID.test(named) ? named : null
  if (target.process?.pid !== server.pid) return null
  const { body } = await askLoopback(server.port, 'GET', '/api/v1/sessions', bearer(server), null, signal)
  const items = isObject(body) && isObject(body.data) && Array.isArray(body.data.items) ? body.data.items : []
  const sessions = items.flatMap((one: unknown) =>
    isObject(one) && one.archived !== true && typeof one.id === 'string' && ID.test(one.id)
      ? [{ id: one.id, at: Date.parse(String(one.updated_at)) || 0 }]
      : [],
  )
  return sessions.sort((a, b) => b.at - a.at)[0]?.id ?? null
}

export const kimiServer: WakeAdapter = {
  id: 'kimi-server',
  tier: 'session',
  optIn: false,
  serves: ({ provider, session }) => provider === 'kimi' && session !== null,
  async probe(target, signal) {
    const server = serverOf(target)
    if (server === null) return notReady('no server of Kimi Code runs (kimi web)')
    const session = await sessionOf(target, server, signal)
    if (session === null) return notReady("the client's own id of the session is not known")
    const path = `/api/v1/sessions/${session}/status`
    const { status, body } = await askLoopback(server.port, 'GET', path, bearer(server), null, signal)
    if (status !== 200 || !isObject(body) || body.code !== 0) return notReady('its server does not know the session')
    return ready(isObject(body.data) && body.data.busy === true)
  },
  async wake(target, letter, signal) {
    const server = serverOf(target)
    const session = server === null ? null : await sessionOf(target, server, signal)
    if (session === null || server === null) return woken('refused', 'its server has gone')
    const path = `/api/v1/sessions/${session}/prompts`
    const content = { content: [{ type: 'text', text: letter.text }] }
    const { status, body } = await askLoopback(server.port, 'POST', path, bearer(server), content, signal)
    // it answers 200 for errors too, and names them in the body
    if (status !== 200 || !isObject(body) || body.code !== 0 || !isObject(body.data))
      return woken('refused', `its server answered ${status}`)
    if (body.data.status === 'running') return woken('started', 'a turn began')
    if (body.data.status === 'queued') return woken('queued', 'it is at work')
    return woken('refused', 'its server took it and does not run it')
  },
}

const bearer = ({ token }: Server): Record<string, string> => ({ authorization: `Bearer ${token}` })
