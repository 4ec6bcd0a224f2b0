// What a caller may read: the one function against a simple model, and every operation against the one function.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Caller } from '../../../src/engine/mail.ts'
import { mayRead } from '../../../src/engine/may-read.ts'
import { Refusal } from '../../../src/wire/refusal.ts'
import { addressOf, World } from './world.ts'

type Step =
  | { do: 'send'; from: number; to: number[] }
  | { do: 'reply'; from: number; to: number }
  | { do: 'member'; account: number }
  | { do: 'succeed' | 'end'; session: number }

const small = fc.nat({ max: 50 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      from: small,
      to: fc.array(small, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('reply' as const), from: small, to: small }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('member' as const), account: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('succeed' as const, 'end' as const), session: small }) },
)

/** A session and those that took over its mailbox are one line; a line is known by its first session. */
type Line = { account: string; caller: Caller; ended: boolean }
type Letter = {
  id: string
  account: string
  /** The one line of the sending account that may read it, or null for all. */
  scope: Line | null
  accounts: Set<string>
  lines: Set<Line>
  /** Members of the room when it was posted. */
  room: Set<string>
}

/** Three times, so that rooms are written to often enough. */
const ROOM = Array.from({ length: 3 }, () => ({ text: '#room', line: null, account: null }))

class Model {
  readonly lines: Line[] = []
  readonly letters: Letter[] = []
  readonly members = new Set<string>()
  readonly log: string[] = []
  constructor(readonly world: World) {}

  static async open(): Promise<Model> {
    const model = new Model(await World.open())
    const accounts = []
    for (const name of ['ann', 'bob', 'cat']) accounts.push(await model.world.account(name))
    await model.world.room('room', ...accounts.slice(0, 2))
    model.members.add('ann').add('bob')
    for (const account of accounts)
      for (let i = 0; i < 2; i++)
        model.lines.push({ account: account.name, caller: await model.world.session(account), ended: false })
    return model
  }

  mayRead(line: Line, letter: Letter): boolean {
    if (letter.account === line.account && (letter.scope === null || letter.scope === line)) return true
    if (letter.accounts.has(line.account) || letter.lines.has(line)) return true
    return letter.room.has(line.account) && this.members.has(line.account)
  }

  async run(one: Step): Promise<void> {
    if (one.do === 'send') return this.#send(this.#line(one.from), one.to)
    if (one.do === 'reply') return this.#reply(this.#line(one.from), one.to)
    if (one.do === 'member') return this.#toggle(one.account)
    const line = this.#line(one.session)
    if (line.ended) return
    await this.world.end(line.caller)
    if (one.do === 'succeed') line.caller = await this.world.session(line.caller.account, '', line.caller.session.id)
    else await this.#release(line)
  }

  #line(index: number): Line {
    const line = this.lines[index % this.lines.length]
    if (!line) throw new Error('no line')
    return line
  }

  #targets(from: Line): { text: string; line: Line | null; account: string | null }[] {
    return [
      ...['ann', 'bob', 'cat'].map((account) => ({ text: account, line: null, account })),
      ...this.lines.map((line) => ({ text: addressOf(line.caller), line, account: null })),
      ...(this.members.has(from.account) ? ROOM : []),
    ]
  }

  async #send(from: Line, to: readonly number[]): Promise<void> {
    if (from.ended) return
    const targets = this.#targets(from)
    const chosen = to.map((index) => targets[index % targets.length]).filter((target) => target !== undefined)
    const accounts = new Set(chosen.flatMap((target) => target.account ?? []))
    const room = new Set(chosen.some((target) => target.text === '#room') ? this.members : [])
    // what goes to the whole account needs no copy for one of its sessions
    const lines = new Set(
      chosen
        .flatMap((target) => target.line ?? [])
        .filter((line) => !accounts.has(line.account) && !room.has(line.account)),
    )
    for (const account of accounts) room.delete(account)
    const scope = [...lines].some((line) => line.account === from.account) ? from : null
    const { message_id: id } = await this.world.call(from.caller, 'send', {
      to: chosen.map((target) => target.text),
      subject: 'walrus',
      body: '.',
    })
    this.letters.push({ id, account: from.account, scope, accounts, lines, room })
    this.log.push(`${addressOf(from.caller)} sent ${id} to ${chosen.map((target) => target.text)}`)
  }

  async #reply(from: Line, index: number): Promise<void> {
    const parent = this.letters[index % Math.max(1, this.letters.length)]
    if (!parent || from.ended) return
    if (!this.mayRead(from, parent)) {
      const refusal = await this.world.refusal(from.caller, 'send', { reply_to: parent.id, body: '' })
      expect(refusal.kind).toBe('unknown_message')
      return
    }
    // answered to one account, so that only the thread decides about the sender's side
    const { message_id: id } = await this.world.call(from.caller, 'send', {
      reply_to: parent.id,
      to: 'cat',
      body: '.',
      subject: 'walrus',
    })
    const scope = parent.lines.has(from) || parent.scope === from ? from : null
    this.letters.push({
      id,
      account: from.account,
      scope,
      accounts: new Set(['cat']),
      lines: new Set(),
      room: new Set(),
    })
    this.log.push(`${addressOf(from.caller)} answered ${parent.id} with ${id} to cat`)
  }

  async #toggle(index: number): Promise<void> {
    const account = this.#line(index).caller.account
    const room = this.world.store.registry.room('room')
    if (!room) throw new Error('no room')
    if (this.members.delete(account.name)) await this.world.store.leave(room, account)
    else {
      this.members.add(account.name)
      await this.world.store.join(room, account)
    }
    this.log.push(`room: ${[...this.members]}`)
  }

  async #release(line: Line): Promise<void> {
    line.ended = true
    await this.world.store.release(line.caller.session)
    for (const letter of this.letters) if (letter.lines.has(line)) letter.accounts.add(line.account)
    this.log.push(`${addressOf(line.caller)} ended and was released`)
  }
}

async function readableIds(world: World, caller: Caller, ids: readonly string[]): Promise<string[]> {
  const readable: string[] = []
  for (const message_id of ids)
    try {
      await world.call(caller, 'get', { message_id, peek: true })
      readable.push(message_id)
    } catch (error) {
      if (!(error instanceof Refusal && error.kind === 'unknown_message')) throw error
    }
  return readable
}

test('property: mayRead is the model, and every operation keeps to it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 25 }), async (steps) => {
      const model = await Model.open()
      const { world } = model
      try {
        for (const one of steps) await model.run(one)
        const ids = model.letters.map((letter) => letter.id)
        for (const line of model.lines) {
          if (line.ended) continue
          const { caller } = line
          const expected = model.letters.filter((letter) => model.mayRead(line, letter)).map((letter) => letter.id)
          const decided = ids.filter((id) => {
            const message = world.store.message(Number.parseInt(id.slice(4, 16), 16))
            return message !== null && mayRead(world.mail, caller, message)
          })
          const context = [addressOf(caller), ...model.log].join('\n')
          expect([context, decided]).toEqual([context, expected])
          expect(await readableIds(world, caller, ids)).toEqual(expected)
          const found = await world.call(caller, 'search', { query: 'walrus', limit: 256, max_bytes: 1_000_000 })
          expect(found.messages.map((message) => message.message_id).reverse()).toEqual(expected)
          for (const id of await world.inbox(caller, { state: 'all', limit: 256, max_bytes: 1_000_000 }))
            expect(expected).toContain(id)
          for (const { message_id } of (await world.call(caller, 'sent', { max_bytes: 1_000_000 })).messages)
            expect(expected).toContain(message_id)
          const [first] = expected
          if (first === undefined) continue
          for (const { message_id } of (await world.call(caller, 'thread', { message_id: first, max_bytes: 1_000_000 }))
            .messages)
            expect(expected).toContain(message_id)
        }
      } finally {
        await world.close()
      }
    }),
    { numRuns: 30 },
  )
}, 30_000)

test('operators read all by id, thread and search; their inbox is not widened', async () => {
  const world = await World.open()
  const ann = await world.session(await world.account('ann'))
  const bob = await world.session(await world.account('bob'))
  const boss = await world.session(await world.account('boss', { operator: true, read: false, send: false }, 'person'))
  const id = await world.letter(ann, addressOf(bob), 'walrus')
  expect(await world.call(boss, 'get', { message_id: id })).toMatchObject({ to_text: addressOf(bob) })
  expect((await world.call(bob, 'get', { message_id: id, peek: true })).state).toBe('new')
  expect((await world.call(boss, 'thread', { message_id: id })).messages).toHaveLength(1)
  expect((await world.call(boss, 'search', { query: 'walrus' })).messages).toHaveLength(1)
  expect((await world.call(boss, 'receipts', { message_id: id })).receipts[0]?.deliveries).toHaveLength(1)
  expect(await world.inbox(boss, { state: 'all' })).toEqual([])
  expect((await world.refusal(boss, 'ack', { message_id: id })).kind).toBe('unknown_message')
  await world.close()
})
