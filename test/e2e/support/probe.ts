// What a session is let read at every door: asked by real processes, one question a door.
import type { Actor } from './actor.ts'

type Found = { message_id: string }
const idsOf = (body: Record<string, any>): string[] =>
  [body.messages ?? body.receipts ?? []].flat().map((one: Found) => one.message_id)

/** Of `ids`, those that `get` gives at that door. Opens nothing. */
export async function got(actor: Actor, door: 'http' | 'socket' | 'mcp-legacy' | 'mcp-modern', ids: readonly string[]) {
  const answers = await Promise.all(
    ids.map(async (message_id) => {
      const { body } = await actor.call({ door, op: 'get', request: { message_id, peek: true } })
      if (body.message_id === message_id && typeof body.body === 'string') return message_id
      if (body.kind === 'unknown_message') return null
      throw new Error(`get at ${door}: ${JSON.stringify(body)}`)
    }),
  )
  return answers.filter((id) => id !== null)
}

/** All pages of a list operation. */
export async function listed(actor: Actor, op: string, request: object = {}): Promise<string[]> {
  const found: string[] = []
  let cursor: string | null = null
  for (;;) {
    const body: Record<string, any> = await actor.ask('http', op, {
      ...request,
      limit: 256,
      max_bytes: 1_000_000,
      cursor,
    })
    found.push(...idsOf(body))
    if (!body.has_more) return found
    cursor = body.cursor
  }
}

/** Does the operation on one message let the caller at it? */
export async function allowed(actor: Actor, op: string, request: object): Promise<boolean> {
  const { body } = await actor.call({ door: 'http', op, request })
  if (body.kind === 'unknown_message') return false
  if (body.kind) throw new Error(`${op}: ${JSON.stringify(body)}`)
  return true
}

/** Message ids of the events after `cursor`, up to the first of `last`, which the caller may read. */
export async function streamed(actor: Actor, cursor: string, last: string): Promise<Set<string>> {
  const { body } = await actor.call({ door: 'events', cursor, last })
  return new Set(body.ids)
}
