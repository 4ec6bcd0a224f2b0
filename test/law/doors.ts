// The same call in the words of each door, and each door's answer in the words of the book.
import type { DoorName, Order, Reply } from '../e2e/support/actor.ts'
import type { Answer, Asked } from './book.ts'

/** What a letter of the history is called in the mailbox, and the other way round; and its cursors. */
export class Names {
  readonly ids = new Map<string, string>()
  readonly #names = new Map<string, string>()
  readonly #made = new Map<string, string>()
  readonly #places = new Map<number, string>()
  #epoch = ''

  /** @throws Error for a second id of one letter */
  learn(name: string, id: string): void {
    const known = this.ids.get(name)
    if (known === id) return
    if (known) throw new Error(`${name} is ${known} and ${id}`)
    this.ids.set(name, id)
    this.#names.set(id, name)
    this.#places.set(Number.parseInt(id.slice(4, 16), 16), name)
  }

  /** What the history calls the letter; for one that it does not know, the id. */
  name = (id: string): string => this.#names.get(id) ?? this.#made.get(id) ?? id

  /** For a letter that was never seen an id that no letter has. */
  id = (name: string): string => {
    const known = this.ids.get(name)
    if (known) return known
    const id = `m4a_${'f'.repeat(12)}${new Bun.CryptoHasher('sha256').update(name).digest('hex').slice(0, 12)}`
    this.#made.set(id, name)
    return id
  }

  /** Null until the mailbox has shown the epoch of its store. */
  cursor(name: string): string | null {
    const id = this.ids.get(name)
    return id && this.#epoch ? `${this.#epoch}.${Number.parseInt(id.slice(4, 16), 16).toString(16)}` : null
  }

  placeOf(cursor: string): string {
    const [epoch = '', place = ''] = cursor.split('.')
    this.#epoch = epoch
    return this.#places.get(Number.parseInt(place, 16)) ?? cursor
  }
}

/** Requests that the tools and the command line word like HTTP, but for what they cannot say. */
export function orderOf(names: Names, door: DoorName, asked: Asked): { op: string; request: Record<string, unknown> } {
  const { op, request } = wordsOf(names, asked)
  if (door === 'cli' || door === 'http' || door === 'socket') return { op, request }
  // "new things reach MCP through the existing eight tools"
  if (op === 'reopen') return { op: 'ack', request: { ...request, state: 'reopen' } }
  if (op === 'claim') return { op: 'ack', request: { ...request, state: 'claim' } }
  if (op === 'thread' || op === 'receipts') return { op: 'get', request: { ...request, [op]: true } }
  return { op, request }
}

/** Operations that a door has no words for go over HTTP. */
export function doorFor(door: DoorName, asked: Asked): DoorName {
  const mcp = door.startsWith('mcp')
  if (mcp && (asked.op === 'sent' || asked.op === 'unread')) return 'http'
  if ((mcp || door === 'cli') && asked.op === 'inbox' && asked.brief) return 'http'
  if (door === 'cli' && asked.op === 'inbox' && asked.wait) return 'socket'
  return door
}

function wordsOf(names: Names, asked: Asked): { op: string; request: Record<string, unknown> } {
  const { op } = asked
  if (op === 'send') {
    const request = {
      ...(asked.to === null ? {} : { to: asked.to }),
      subject: asked.name,
      body: asked.body,
      ...(asked.reply_to === null ? {} : { reply_to: names.id(asked.reply_to) }),
      ...(asked.close ? { close: true } : {}),
      ...(asked.key === null ? {} : { idempotency_key: asked.key }),
      ...(asked.upsert === null ? {} : { upsert_key: asked.upsert }),
    }
    return { op, request }
  }
  if (op === 'ack' || op === 'reopen') return { op, request: { message_ids: asked.letters.map(names.id) } }
  if (op === 'claim') return { op, request: { message_ids: asked.letters.map(names.id), claim_secs: asked.seconds } }
  if (op === 'get')
    return { op, request: { message_id: names.id(asked.letter), ...(asked.peek ? { peek: true } : {}) } }
  if (op === 'inbox') {
    const cursor = asked.cursor === null ? null : names.cursor(asked.cursor)
    const request = {
      ...(asked.state === 'open' ? {} : { state: asked.state }),
      limit: asked.limit,
      ...(cursor === null ? {} : { cursor }),
      ...(asked.brief ? { brief: true } : {}),
      ...(asked.wait ? { wait_secs: 1 } : {}),
      max_bytes: 1_000_000,
    }
    return { op, request }
  }
  if (op === 'receipts' || op === 'thread') return { op, request: { message_id: names.id(asked.letter), ...WHOLE } }
  return { op, request: op === 'sent' ? WHOLE : {} }
}
const WHOLE = { limit: 256, max_bytes: 1_000_000 }

type Json = Record<string, any>

/** What the mailbox said; null where it said nothing: it was gone, or on its way. */
export function answerOf(names: Names, asked: Asked, { body }: Reply): Answer | null {
  if (body.failed !== undefined || GONE.has(body.kind)) return null
  if (typeof body.kind === 'string' && typeof body.hint === 'string') return { refused: body.kind }
  for (const letter of [body, ...(body.messages ?? []), ...(body.receipts ?? [])])
    if (letter.message_id && letter.subject) names.learn(letter.subject, letter.message_id)
  switch (asked.op) {
    case 'send':
      names.learn(asked.name, body.message_id)
      return sentOf(names, body)
    case 'ack':
    case 'reopen':
    case 'claim':
      return { results: body.results.map((one: Json) => resultOf(names, one)), unread: body.unread }
    case 'get':
      return letterOf(names, body)
    case 'inbox':
      return {
        letters: body.messages.map((one: Json) => rowOf(names, one)),
        unread: body.unread,
        orphaned: body.orphaned?.count ?? 0,
        has_more: body.has_more,
        cursor: body.cursor === null ? null : names.placeOf(body.cursor),
      }
    case 'unread':
      return { unread: body.unread }
    case 'thread':
      return { letters: body.messages.map((one: Json) => letterOf(names, one)) }
    case 'sent':
      return { letters: body.messages.map((one: Json) => receiptOf(names, one)) }
    case 'receipts':
      return receiptOf(names, body.receipts[0] ?? {})
  }
}

/** The mailbox did nothing, or it is not known what it did. */
const GONE = new Set(['daemon_unreachable', 'shutting_down'])

const sentOf = (names: Names, body: Json): Answer => ({
  letter: names.name(body.message_id),
  thread: names.name(body.thread),
  from: body.from_text,
  hop: body.hop,
  duplicate: body.duplicate ?? false,
  closed: body.closed !== undefined,
  superseded: body.superseded ?? 0,
  results: body.results.map((one: Json) => ({
    to: one.to_text,
    state: one.state ?? null,
    kind: one.refusal?.kind ?? null,
  })),
})

const resultOf = (names: Names, one: Json) => ({
  letter: names.name(one.message_id),
  ok: one.ok,
  kind: one.refusal?.kind ?? null,
})

const stateOf = (one: Json) => ({
  state: one.state ?? null,
  opened_by: one.opened_by ?? null,
  closed_by: one.closed_by ?? null,
  close_reason: one.close_reason ?? null,
  claimed_by: one.claimed_by ?? null,
})

const letterOf = (names: Names, one: Json): Answer => ({
  letter: names.name(one.message_id),
  from: one.from_text,
  thread: names.name(one.thread),
  reply_to: one.reply_to === null ? null : names.name(one.reply_to),
  hop: one.hop,
  to: one.to_text,
  ...stateOf(one),
})

const rowOf = (names: Names, one: Json): Answer => ({
  letter: names.name(one.message_id),
  from: one.from_text,
  to: one.to_text,
  updates: one.updates ?? 0,
  ...stateOf(one),
})

const receiptOf = (names: Names, one: Json): Answer => ({
  letter: names.name(one.message_id),
  deliveries: (one.deliveries ?? []).map((copy: Json) => ({
    to: copy.to_text,
    participant: copy.participant ?? null,
    ...stateOf(copy),
    session_ended: copy.session_ended ?? false,
  })),
})

export type Call = { by: string; door: DoorName; asked: Asked }
export const order = (names: Names, { door, asked }: Call, token: string): Order => {
  const through = doorFor(door, asked)
  return { door: through, ...orderOf(names, through, asked), token }
}
