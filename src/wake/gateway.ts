// The gateway of a host that runs many agents: it keeps their routines, and hands out the address and the key of each. On loopback alone.
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { folderIdOf } from './detect/nick.ts'
import { type JsonObject, readRecord, textOf } from './files.ts'
import { askLoopback, isObject } from './loopback.ts'

const WAIT_MS = 8_000

export const Gateway = Type.Object({
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  token: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
})
export type Gateway = Static<typeof Gateway>
/** `waiting`: the routine has no key yet; it is asked again, and no second routine is made. */
export type Credential = { state: 'ready'; url: string; key: string } | { state: 'waiting' | 'failed' }

/** `{port, scheme, token?}`; null where the file is none, or speaks of anything but http. */
export const gatewayIn = (path: string): Gateway | null => gatewayOf(readRecord(path, true))

export function gatewayOf(record: JsonObject | null): Gateway | null {
  if (record === null || (record.scheme !== undefined && record.scheme !== 'http')) return null
  const gateway = { port: record.port, token: textOf(record.token) }
  return Value.Check(Gateway, gateway) ? gateway : null
}

/**
 * The credential of the routine of `agent` that is named after its nick. Where the agent has no routine of that name here, a
 * disabled one is put in its place once, since the gateway gives out credentials of what it lists alone.
 */
export async function credentialOf(
  gateway: Gateway,
  agent: string,
  nick: string,
  stop: AbortSignal,
): Promise<Credential> {
  const folder = folderIdOf(nick)
  if (folder === null) return { state: 'failed' }
  try {
    const routines = await ask(gateway, 'getAgentAutomations', { agentId: agent }, stop)
    if (!Array.isArray(routines)) return { state: 'failed' }
    const isThere = routines.some((one: unknown) => isObject(one) && (one.folder === folder || one.name === folder))
    if (!isThere) {
      const made = { agentId: agent, name: folder, folder, enabled: false, trigger: { type: 'webhook' } }
      await ask(gateway, 'createAgentAutomation', made, stop)
    }
    const found = await ask(gateway, 'getAutomationWebhookCredential', { agentId: agent, folder }, stop)
    if (!isObject(found)) return { state: 'failed' }
    const [url, key] = [textOf(found.url), textOf(found.key)]
    return url === null || key === null ? { state: 'waiting' } : { state: 'ready', url, key }
  } catch {
    return { state: 'failed' }
  }
}

async function ask({ port, token }: Gateway, method: string, body: object, stop: AbortSignal): Promise<unknown> {
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` }
  const signal = AbortSignal.any([stop, AbortSignal.timeout(WAIT_MS)])
  const answer = await askLoopback(port, 'POST', `/api/${method}`, headers, body, signal)
  if (answer.status !== 200) throw new Error('the gateway said no')
  return isObject(answer.body) && 'result' in answer.body ? answer.body.result : answer.body
}
