// Readers that are parked on the mailbox and on Redis: a crowd that is left alone, and one that is woken.
import { body, HTTP, post } from '../http.ts'
import { BODY, SUBJECT } from '../letters.ts'
import type { Mailbox } from '../peers/mailbox.ts'
import { command, RESP } from '../resp.ts'
import { type Asker, asker, type Connection, connect, type Protocol } from '../wire.ts'

export type Sleepers = {
  readonly name: string
  /** Parks readers until there are `count`, with the one that is measured. */
  park(count: number): Promise<void>
  /** The measured reader waits; resolves when it has its answer. */
  sleep(): Promise<void>
  /** Wakes it; resolves with the reply to the send. */
  send(): Promise<void>
  /** Lets the crowd go. */
  release(): void
  /** Lets all go. */
  close(): void
}

const CROWDS = 64
const WAIT = { wait_secs: 60 }

/** A crowd that parks itself again whenever it is answered: a wait is not for ever. */
function crowd(port: number, protocol: Protocol, wait: (reader: number) => Buffer) {
  const readers: Connection[] = []
  return {
    async grow(count: number): Promise<void> {
      while (readers.length < count) {
        const request = wait(readers.length)
        const reader = await connect(port, protocol, () => reader.send(request))
        reader.send(request)
        readers.push(reader)
      }
    },
    close() {
      for (const reader of readers.splice(0)) reader.close()
    },
  }
}

export type MailboxSleepers = Sleepers & {
  /** Readers that wait on the crowd's accounts, by the mailbox's own word once all are there or 20 s have passed. */
  parked(): Promise<number>
  /** `count` readers of one account and one send, a few times: microseconds until the last has its answer. */
  choir(count: number): Promise<number[]>
}

export async function mailboxSleepers(mailbox: Mailbox): Promise<MailboxSleepers> {
  const crowds = Array.from({ length: CROWDS }, (_, i) => `crowd-${i}`)
  await mailbox.accounts(['waker', 'sleeper', 'choir', ...crowds])
  const waiting = (account: string, cursor?: string) =>
    post('/mail/inbox', mailbox.token(account), cursor === undefined ? WAIT : { ...WAIT, cursor })
  const letterTo = (to: string) => post('/mail/send', mailbox.token('waker'), { to, subject: SUBJECT, body: BODY })
  const others = crowd(mailbox.port, HTTP, (reader) => waiting(`crowd-${reader % CROWDS}`))
  const reader = await asker(mailbox.port, HTTP)
  const sender = await asker(mailbox.port, HTTP)
  let wait = waiting('sleeper')
  let expected = 0

  const waitingOn = async (line: Asker, target: string): Promise<number> =>
    body<{ waiting: number }>(await line.ask(post('/mail/ping', mailbox.token('waker'), { target }))).waiting

  async function waitingAll(targets: string[], count: number): Promise<number> {
    for (const end = performance.now() + 20_000; ; await Bun.sleep(50)) {
      let sum = 0
      for (const target of targets) sum += await waitingOn(sender, target)
      if (sum === count || performance.now() > end) return sum
    }
  }

  return {
    name: 'mail4agent',
    async park(count) {
      expected = count - 1
      await others.grow(expected)
    },
    parked: () => waitingAll(crowds, expected),
    async sleep() {
      const { messages, cursor } = body<{ messages: unknown[]; cursor: string }>(await reader.ask(wait))
      if (messages.length !== 1) throw new Error(`woken by ${messages.length} messages`)
      wait = waiting('sleeper', cursor)
    },
    async send() {
      body(await sender.ask(letterTo('sleeper')))
    },
    release: () => others.close(),
    close() {
      for (const one of [others, reader, sender]) one.close()
    },
    async choir(count) {
      const took: number[] = []
      const singers: Asker[] = []
      for (let i = 0; i < count; i++) singers.push(await asker(mailbox.port, HTTP))
      let cursor: string | undefined
      for (let i = 0; i < 5; i++) {
        const request = waiting('choir', cursor)
        const answers = singers.map((singer) => singer.ask(request))
        if ((await waitingAll(['choir'], count)) !== count) throw new Error('the choir is not parked')
        const start = performance.now()
        await sender.ask(letterTo('choir'))
        const last = (await Promise.all(answers)).at(-1)
        took.push((performance.now() - start) * 1000)
        if (last) cursor = body<{ cursor: string }>(last).cursor
      }
      for (const singer of singers) singer.close()
      return took
    },
  }
}

export async function redisSleepers(port: number): Promise<Sleepers> {
  const block = (key: string, after: string) => command('XREAD', 'BLOCK', 0, 'STREAMS', key, after)
  const others = crowd(port, RESP, (reader) => block(`crowd:${reader % CROWDS}`, '$'))
  const reader = await asker(port, RESP)
  const sender = await asker(port, RESP)
  let after = '$'
  return {
    name: 'Redis XREAD BLOCK',
    park: (count) => others.grow(count - 1),
    async sleep() {
      const reply = (await reader.ask(block('sleeper', after))).toString()
      after = /[0-9]+-[0-9]+/.exec(reply)?.[0] ?? '$'
    },
    async send() {
      await sender.ask(command('XADD', 'sleeper', '*', 'from', 'waker', 'subject', SUBJECT, 'body', BODY))
    },
    release: () => others.close(),
    close() {
      for (const one of [others, reader, sender]) one.close()
    },
  }
}
