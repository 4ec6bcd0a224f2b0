// One course of events on model and mailbox: every answer is compared with the book's, at the end everything that can be read.
import type { Actor, DoorName } from '../e2e/support/actor.ts'
import type { Asked } from './book.ts'
import { answerOf, type Call, Names, order } from './doors.ts'
import { Law, type Seen } from './law.ts'
import { account, release } from './people.ts'
import { Refused } from './state.ts'
import type { CallStep, Step } from './steps.ts'
import type { World } from './world.ts'

type Member = { address: string; account: string; actor: Actor }
/** An agent client's session, and who of the mailbox's sessions went on with it last. */
type Thread = { id: string; last: string; live: boolean }

export class History {
  readonly law = new Law()
  readonly #names = new Names()
  readonly #tokens = new Map<string, string>()
  readonly #rooms: string[] = []
  readonly #live: Member[] = []
  readonly #ended: string[] = []
  /** Those that are there, or may be. */
  readonly #letters: string[] = []
  #serial = 0
  readonly #threads = new Map<string, Thread>()
  /** What happened, to be read when it went wrong. */
  readonly log: string[] = []

  constructor(readonly world: World) {}

  /** Three accounts with two sessions each, one of them a person's, and two rooms. */
  async begin(): Promise<void> {
    const { world } = this
    const made = (['ann', 'bob', 'pat'] as const).map((name) => [world.fresh(name), name === 'pat'] as const)
    for (const [name, isPerson] of made) {
      const kind = isPerson ? 'person' : 'agent'
      this.#tokens.set(name, await world.account(name, { kind }))
      this.law.change((state) => account(state, { name, kind, send: true, read: true }))
    }
    for (const room of [world.fresh('yard'), world.fresh('shed')]) {
      this.#rooms.push(room)
      await world.admin('room', { id: room })
      this.law.change((state) => {
        state.rooms[room] = []
      })
    }
    for (const [name] of made.slice(0, 2)) await this.#turn(this.#rooms[0] ?? '', name)
    for (const [name] of [...made, ...made.slice(0, 2)]) await this.#begin(name, await world.process(), null)
  }

  async run(step: Step): Promise<void> {
    this.log.push(JSON.stringify(step))
    switch (step.do) {
      case 'together':
        return this.#together(step.calls.map((one) => this.#call(one)))
      case 'crash':
        return this.#crash(step)
      case 'begin':
        return this.#begin(this.#account(step.account), await this.world.process(), null)
      case 'end':
        return this.#end(step.who)
      case 'resume':
        return this.#resume(this.#account(step.account))
      case 'member':
        return this.#turn(pick(this.#rooms, step.room), this.#account(step.account))
      case 'allow':
        return this.#allow(this.#account(step.account), step)
      case 'release':
        return this.#release(step.who)
      case 'clock': {
        this.world.moveClock(step.hours * 3_600)
        return this.law.happened({ event: 'clock', by: step.hours * 3_600_000 })
      }
      default:
        return this.#together([this.#call(step)])
    }
  }

  /** Everything that each session can read, at one door or another. */
  async audit(): Promise<void> {
    this.log.push('audit')
    let at = 0
    const through = (): DoorName => DOORS_IN_TURN[at++ % DOORS_IN_TURN.length] ?? 'http'
    for (const { address } of this.#live) {
      const ask = (asked: Asked) => this.#together([{ by: address, door: through(), asked }])
      await ask({ op: 'inbox', state: 'all', limit: 200, cursor: null, brief: false, wait: false })
      await ask({ op: 'sent' })
      await ask({ op: 'unread' })
      for (const letter of this.#letters) await ask({ op: 'get', letter, peek: true })
      for (const letter of this.#letters) if (at % 3 === 0) await ask({ op: 'receipts', letter })
    }
  }

  async close(): Promise<void> {
    await this.world.giveBack(this.#live.map(({ actor }) => actor))
  }

  /** Of the last few more often than of the others. */
  #letter(at: number): string {
    if (this.#letters.length === 0) return 'none'
    return pick(at < 45 ? this.#letters.slice(-5) : this.#letters, at)
  }

  #account = (at: number): string => pick([...this.#tokens.keys()], at)
  #member = (at: number): Member => pick(this.#live, at)

  /** A step in the words of the book. */
  #call(step: CallStep): Call {
    const { address } = this.#member(step.who)
    return { by: address, door: step.door, asked: this.#asked(step, address) }
  }

  #asked(step: CallStep, by: string): Asked {
    const letter = (at: number) => this.#letter(at)
    switch (step.do) {
      case 'send': {
        const upsert = step.upsert === 0 ? null : `u${step.upsert}`
        return this.#sending(step.to, by, step.key, { reply_to: null, close: false, upsert, other: step.other })
      }
      case 'reply':
        return this.#sending(step.to, by, step.key, {
          reply_to: letter(step.letter),
          close: step.close,
          upsert: null,
          other: false,
        })
      case 'ack':
      case 'reopen':
        return { op: step.do, letters: step.letters.map(letter) }
      case 'claim': {
        const seconds = step.door === 'cli' && step.seconds > 0 ? 600 : step.seconds
        return { op: 'claim', letters: step.letters.map(letter), seconds }
      }
      case 'get':
        return { op: 'get', letter: letter(step.letter), peek: step.peek }
      case 'inbox': {
        const { state, limit, brief, wait } = step
        const behind = step.cursor < 0 ? 'none' : letter(step.cursor)
        const cursor = this.#names.cursor(behind) === null ? null : behind
        return { op: 'inbox', state, limit, cursor, brief, wait }
      }
      case 'receipts':
      case 'thread':
        return { op: step.do, letter: letter(step.letter) }
      case 'unread':
      case 'sent':
        return { op: step.do }
    }
  }

  #sending(
    to: readonly number[],
    by: string,
    key: number,
    more: { reply_to: string | null; close: boolean; upsert: string | null; other: boolean },
  ): Asked {
    const account = by.split('/')[0] ?? ''
    const { other, ...rest } = more
    const name = key === 0 ? `L${this.#serial++}` : `K-${account}-${key}`
    const body = `${name}${key > 0 && other ? ' other' : ''}`
    const targets = this.#targets()
    return {
      op: 'send',
      name,
      to: to.length === 0 ? null : to.map((at) => pick(targets, at)),
      body,
      key: key === 0 ? null : `k${key}`,
      ...rest,
    }
  }

  /** Whom one can write to, and whom not. */
  #targets(): string[] {
    const rooms = this.#rooms.map((room) => `#${room}`)
    const sessions = [...this.#live.map(({ address }) => address), ...this.#ended.slice(-2)]
    return [...this.#tokens.keys(), ...sessions, ...rooms, ...sessions, ...rooms, 'nobody-at-all']
  }

  /** Asks all at once; what they are told has to be explained by some order of them. */
  async #together(calls: readonly Call[]): Promise<void> {
    const seen = await Promise.all(calls.map((call) => this.#ask(call)))
    const [silent] = seen.filter(({ answer }) => answer === null)
    if (silent) throw new Error(`no answer to ${JSON.stringify(silent.asked)}`)
    this.law.together(seen, this.#inOrder)
  }

  async #ask(call: Call): Promise<Seen> {
    this.world.calls++
    const member = this.#live.find(({ address }) => address === call.by)
    if (!member) throw new Error(`${call.by} does not run`)
    const reply = await member.actor.call(order(this.#names, call, this.#tokens.get(member.account) ?? ''))
    const answer = answerOf(this.#names, call.asked, reply)
    const { asked } = call
    if (asked.op === 'send' && !answer?.refused && !this.#letters.includes(asked.name)) this.#letters.push(asked.name)
    this.log.push(`  ${call.by} ${call.door} ${JSON.stringify(call.asked)} → ${JSON.stringify(answer ?? reply.body)}`)
    return { by: call.by, asked: call.asked, answer }
  }

  /** "Order and cursors are the store's sequence": letters have the order of their ids. */
  #inOrder = (names: string[]): boolean => {
    const ids = names.map((name) => this.#names.ids.get(name)).filter((id) => id !== undefined)
    return ids.every((id, at) => at === 0 || (ids[at - 1] ?? '') < id)
  }

  async #crash({ calls, after, signal }: Extract<Step, { do: 'crash' }>): Promise<void> {
    const asking = calls.map((one) => this.#ask(this.#call(one)))
    await Bun.sleep(after)
    await this.world.down(signal)
    const seen = await Promise.all(asking)
    await this.world.up()
    this.law.together(seen, this.#inOrder)
    this.law.restarted(signal === 'SIGKILL')
    await this.audit()
  }

  async #begin(name: string, actor: Actor, predecessor: string | null): Promise<void> {
    const { body } = await actor.call({ door: 'http', op: 'whoami', request: {}, token: this.#tokens.get(name) ?? '' })
    if (typeof body.address_text !== 'string') throw new Error(`no session of ${name}: ${JSON.stringify(body)}`)
    const address = body.address_text
    this.log.push(`  ${address} begins`)
    this.#live.push({ address, account: name, actor })
    this.law.happened({ event: 'begin', address, account: name, predecessor })
  }

  async #end(at: number): Promise<void> {
    if (this.#live.length < 2) return
    const { address, actor } = this.#member(at)
    await this.world.end(actor)
    this.#live.splice(
      this.#live.findIndex((one) => one.address === address),
      1,
    )
    this.#ended.push(address)
    this.log.push(`  ${address} has ended`)
    for (const thread of this.#threads.values()) if (thread.last === address) thread.live = false
    this.law.happened({ event: 'end', address })
  }

  /** An agent client that goes on with its session; where the one that had it still runs, that is another session. */
  async #resume(name: string): Promise<void> {
    if (this.law.state.accounts[name]?.kind === 'person') return
    const thread = this.#threads.get(name) ?? { id: crypto.randomUUID(), last: '', live: false }
    const free = thread.last !== '' && !thread.live
    if (thread.live) return
    await this.#begin(name, await this.world.resuming(thread.id), free ? thread.last : null)
    this.#threads.set(name, { ...thread, last: this.#live.at(-1)?.address ?? '', live: true })
  }

  async #turn(room: string, name: string): Promise<void> {
    const isMember = this.law.state.rooms[room]?.includes(name) ?? false
    await this.world.admin(isMember ? 'room/member/remove' : 'room/member/add', { room, participant: name })
    this.law.happened({ event: isMember ? 'leave' : 'join', room, account: name })
  }

  async #allow(id: string, { send, read }: { send: boolean; read: boolean }): Promise<void> {
    await this.world.admin('participant/set', { id, may_send: send, may_read: read })
    this.law.happened({ event: 'allow', account: id, send, read })
  }

  async #release(at: number): Promise<void> {
    const address = pick([...this.#ended, ...this.#live.slice(0, 1).map((one) => one.address)], at)
    const [name = '', session = ''] = address.split('/')
    const answer = await this.world
      .admin('orphan/release', { account: name, session })
      .catch((error) => (String(error).includes('not_orphaned') ? 'not_orphaned' : Promise.reject(error)))
    this.law.change((state) => {
      let expected: unknown
      try {
        expected = release(state, address)
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        expected = error.kind
      }
      if (JSON.stringify(expected) !== JSON.stringify(answer))
        throw new Error(`release of ${address}: ${JSON.stringify(answer)}, by the book ${JSON.stringify(expected)}`)
    })
  }
}

const DOORS_IN_TURN: readonly DoorName[] = ['http', 'mcp-modern', 'socket', 'mcp-legacy']

function pick<T>(all: readonly T[], at: number): T {
  const one = all[at % all.length]
  if (one === undefined) throw new Error('there is nothing to choose from')
  return one
}
