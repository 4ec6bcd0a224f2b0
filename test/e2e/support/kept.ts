// A mailbox with some of everything that a store keeps, and what its accounts and sessions are shown of it.
import type { Actor } from './actor.ts'
import type { Mailbox } from './mailbox.ts'

type Json = Record<string, any>

/** Accounts with a session each, a room, a thread, every state of a letter, keys, a claim, a cursor. The sessions outlive the daemon. */
export class Kept {
  readonly tokens = new Map<string, string>()
  readonly sessions = new Map<string, Actor>()
  cursor = ''
  key: Json = {}

  static async write(mailbox: Mailbox, more = 0): Promise<Kept> {
    const kept = new Kept()
    await mailbox.admin('room', { id: 'yard' })
    for (const name of ['ann', 'bob']) {
      kept.tokens.set(name, await mailbox.account(name))
      await mailbox.admin('room/member/add', { room: 'yard', participant: name })
      kept.sessions.set(name, await mailbox.actor(kept.tokens.get(name) ?? ''))
      await kept.ask(name, 'whoami')
    }
    const to = (await kept.ask('bob', 'whoami')).address_text
    const send = async (by: string, request: Json) =>
      (await kept.ask(by, 'send', { body: 'ü\r\n"', ...request })).message_id
    const closed = await send('ann', { to: 'bob', subject: 'to be closed' })
    const opened = await send('ann', { to: 'bob', subject: 'to be opened' })
    await send('ann', { to, subject: 'to a session' })
    await send('ann', { to: '#yard', subject: 'to a room' })
    kept.cursor = (await kept.ask('bob', 'inbox', { limit: 3 })).cursor
    const claimed = await send('ann', { to: 'bob', subject: 'claimed' })
    await kept.ask('bob', 'claim', { message_id: claimed, claim_secs: 3_600 })
    await send('bob', { reply_to: opened, subject: 'an answer' })
    await kept.ask('bob', 'ack', { message_id: closed })
    kept.key = await kept.ask('ann', 'send', KEYED)
    for (let at = 0; at < more; at++) await send('ann', { to: 'bob', subject: `more ${at}` })
    return kept
  }

  /** What the two can read, without what a clock or a listing changes; everything, or `lists` as the first program had them. */
  async shown(lists: readonly string[] = []): Promise<Json> {
    const all: [by: string, op: string, request: Json][] = [
      ['bob', 'inbox', { state: 'all' }],
      ['bob', 'inbox', { state: 'closed' }],
      ['bob', 'inbox', { state: 'open', cursor: this.cursor, brief: true }],
      ['ann', 'inbox', { state: 'all' }],
      ['ann', 'sent', {}],
      ['bob', 'sent', {}],
      ['bob', 'unread', {}],
      ['ann', 'rooms', {}],
    ]
    const found: Json = {}
    for (const [by, op, request] of all) {
      if (lists.length > 0 && (!lists.includes(op) || request.brief)) continue
      const page = op === 'inbox' || op === 'sent' ? { limit: 256, max_bytes: 1_000_000 } : {}
      found[`${by} ${op} ${JSON.stringify(request)}`] = timeless(await this.ask(by, op, { ...request, ...page }))
    }
    return found
  }

  /** The same letter again under its key: true where it is known as that. */
  async repeats(): Promise<boolean> {
    const again = await this.ask('ann', 'send', KEYED)
    return again.duplicate === true && again.message_id === this.key.message_id
  }

  ask(by: string, op: string, request: object = {}): Promise<Json> {
    const actor = this.sessions.get(by)
    if (!actor) throw new Error(`no session of ${by}`)
    return actor.ask('http', op, request)
  }
}

const KEYED = { to: 'bob', subject: 'under a key', body: 'once', idempotency_key: 'the-key' }

/** Without what passes with the time, or with being listed. */
function timeless(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(timeless)
  if (typeof value !== 'object' || value === null) return value
  const passing = new Set(['now', 'age_secs', 'oldest_age_secs', 'notified_at', 'warning'])
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !passing.has(name))
      .map(([name, one]) => [name, timeless(one)]),
  )
}
