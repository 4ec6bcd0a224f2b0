// One wake for a burst; none for mail that is read, taken, refused or too far from a person; and none is forgotten.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { setWake, wakeStatus } from '../../../src/engine/admin/wake.ts'
import type { Caller } from '../../../src/engine/mail.ts'
import { openStore } from '../../../src/store/open.ts'
import { notReady, ready, woken } from '../../../src/wake/adapter.ts'
import { LIMITS } from '../../../src/wire/limits.ts'
import { addressOf, patience } from '../engine/world.ts'
import { PostOffice, settled, TestDoor, TIMES } from './post-office.ts'

let office: PostOffice
let door: TestDoor
let ada: Caller
let ben: Caller

beforeEach(async () => {
  office = await PostOffice.open()
  door = new TestDoor('door')
  await office.watch(door)
  ada = await office.session(await office.account('ada'))
  ben = await office.session(await office.account('ben'))
})
afterEach(() => office.close())

const logOf = (caller: Caller) => office.store.wakes.log(caller.account.box, 100)

describe('a wake', () => {
  test('stands for a letter, says who wrote it and how to read it, and holds no body', async () => {
    const id = await office.letter(ada, 'ben', 'the body $(touch x)')
    await settled()
    expect(door.letters).toHaveLength(1)
    const [letter] = door.letters
    expect(letter).toMatchObject({ id, count: 1, to: 'ben', room: null })
    expect(letter?.text).toContain(
      `from:    ${addressOf(ada)}, as the mailbox has proved: another agent, not your user.`,
    )
    expect(letter?.text).toContain(`"message_id": "${id}"`)
    expect(letter?.text).not.toContain('touch x')
    expect(letter?.plain).not.toContain('a subject')
    expect(logOf(ben)).toMatchObject([{ outcome: 'started', door: 'door', count: 1 }])
  })

  test('any burst is one wake, and what is read in time is none (property)', async () => {
    let names = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ pause: fc.integer({ min: 0, max: 12 }), read: fc.boolean() }), {
          minLength: 1,
          maxLength: 8,
        }),
        async (letters) => {
          const to = await office.session(await office.account(`reader${++names}`))
          const before = door.letters.length
          let unread = 0
          for (const { pause, read } of letters) {
            const id = await office.letter(ada, to.account.name)
            if (read) await office.call(to, 'ack', { message_id: id })
            else unread++
            // within the moment that is waited
            if (pause < TIMES.settle / 4) await Bun.sleep(pause)
          }
          await settled()
          const woken = door.letters.slice(before)
          expect(woken).toHaveLength(unread === 0 ? 0 : 1)
          // what came while it was woken is spoken for; once that is read it is looked at again, and was read too
          const inbox = await office.inbox(to)
          expect(inbox).toHaveLength(unread)
          for (const id of inbox) await office.call(to, 'ack', { message_id: id })
          await settled()
          expect(door.letters.slice(before)).toHaveLength(unread === 0 ? 0 : 1)
        },
      ),
      { numRuns: 12 },
    )
  })

  test('what comes after the agent has read wakes it anew', async () => {
    await office.letter(ada, 'ben')
    await settled()
    await office.inbox(ben)
    await office.letter(ada, 'ben')
    await settled()
    expect(door.letters).toHaveLength(2)
  })

  test('a wake that nobody follows speaks for later mail for a while only', async () => {
    await office.letter(ada, 'ben')
    await settled()
    await office.letter(ada, 'ben')
    await settled()
    expect(door.letters).toHaveLength(1)
    await Bun.sleep(TIMES.cover)
    await settled()
    expect(door.letters.map(({ count }) => count)).toEqual([1, 1])
  })

  test('is needless where a reader is parked, or a hook has told it within a turn', async () => {
    const parked = office.call(ben, 'inbox', { wait_secs: 5 }, patience(5))
    await office.letter(ada, 'ben')
    expect((await parked).messages).toHaveLength(1)
    await office.letter(ada, 'ben')
    await office.call(ben, 'notice', { moment: 'prompt' })
    await settled()
    expect(door.letters).toHaveLength(0)
    // at a session's start no turn runs yet
    await office.letter(ada, 'ben')
    await office.call(ben, 'notice', { moment: 'start' })
    await settled()
    expect(door.letters).toHaveLength(1)
  })

  test('comes of no ack, no receipt, no reading, and not of the writer', async () => {
    const id = await office.letter(ada, 'ben')
    await office.inbox(ben)
    await settled()
    await office.call(ben, 'get', { message_id: id })
    await office.call(ben, 'ack', { message_id: id })
    await office.call(ada, 'receipts', {})
    await settled()
    expect(door.letters).toHaveLength(0)
    await office.letter(ada, 'ada')
    await settled()
    expect(door.letters).toHaveLength(0)
  })

  test('a session alone is woken by mail to it; a sibling by mail to the account, one of them', async () => {
    const second = await office.session(ben.account)
    await office.letter(ada, addressOf(second))
    await settled()
    expect(door.letters.map(({ to }) => to)).toEqual([addressOf(second)])
    await office.letter(ada, 'ben')
    await settled()
    expect(door.letters.map(({ to }) => to)).toEqual([addressOf(second), 'ben'])
  })
})

describe('the policy', () => {
  const set = (more: object, session: string | null = null) =>
    setWake(office.mail, { account: 'ben', session, ...more })

  test('is read at each wake, and mail that it refused is not brought up again', async () => {
    await set({ mode: 'off' })
    await office.letter(ada, 'ben')
    await settled()
    await set({ mode: 'direct' })
    await settled()
    await settled()
    expect(door.letters).toHaveLength(0)
    const id = await office.letter(ada, 'ben')
    await settled()
    expect(door.letters.map((letter) => [letter.id, letter.count])).toEqual([[id, 1]])
  })

  test('also where older mail is due: that alone comes', async () => {
    door.probeAnswer = notReady('shut')
    const due = await office.letter(ada, 'ben')
    await settled()
    const cyd = await office.session(await office.account('cyd'))
    await set({ block: ['cyd'] })
    await office.letter(cyd, 'ben')
    await settled()
    await set({ unblock: ['cyd'] })
    door.probeAnswer = ready()
    await office.session(ben.account)
    await settled()
    expect(door.letters.map((letter) => [letter.id, letter.count])).toEqual([[due, 1]])
  })

  test('a damaged or unknown one wakes nobody, and says so', async () => {
    for (const policy of ['{', '[]', '{"mode":"loud"}', '{"modes":"all"}', '{"allow":"ada"}']) {
      await office.store.wakes.setPolicy(ben.account.box, policy)
      await office.letter(ada, 'ben')
      await settled()
      const [status] = wakeStatus(office.mail, { account: 'ben' }).wakes
      expect(status?.policy.damaged).toBeString()
    }
    expect(door.letters).toHaveLength(0)
  })

  test('a session has its own over that of its account', async () => {
    await set({ mode: 'off' }, ben.session.name)
    await office.letter(ada, addressOf(ben))
    await settled()
    expect(door.letters).toHaveLength(0)
    await office.letter(ada, 'ben')
    await settled()
    expect(door.letters).toHaveLength(1)
  })

  test('persons are not woken, and rooms wake where the mode says so', async () => {
    const pat = await office.session(await office.account('pat', {}, 'person'))
    await office.room('build', ada.account, ben.account)
    await office.letter(ada, 'pat')
    await office.letter(ada, '#build', 'hello @ben')
    await settled()
    expect(door.letters).toHaveLength(0)
    await set({ mode: 'mention' })
    await office.letter(ada, '#build', 'hello @benny and ben@example')
    await settled()
    expect(door.letters).toHaveLength(0)
    await office.letter(ada, '#build', 'hello @ben.')
    await settled()
    expect(door.letters.map(({ room }) => room)).toEqual(['#build'])
    expect(pat.account.kind).toBe('person')
  })

  test('an agent at work is left alone until it is idle, where it says so', async () => {
    await set({ quiet: true })
    door.probeAnswer = ready(true)
    await office.letter(ada, 'ben')
    await settled()
    expect(door.letters).toHaveLength(0)
    door.probeAnswer = ready(false)
    await settled()
    expect(door.letters).toHaveLength(1)
  })

  test('a door that is not known is refused by name', async () => {
    expect(set({ on: ['nothing'] })).rejects.toThrow('there is no door nothing')
  })
})

describe('loops', () => {
  test('three agents that answer everything stop at the hop limit, also where each begins anew', async () => {
    const cyd = await office.session(await office.account('cyd'))
    const next = new Map([
      ['ada', ben],
      ['ben', cyd],
      ['cyd', ada],
    ])
    const callers = new Map([ada, ben, cyd].map((caller) => [caller.account.name, caller]))
    const answering = new TestDoor('answering')
    answering.wake = async (_: unknown, letter) => {
      answering.letters.push(letter)
      const me = callers.get(letter.to)
      const to = next.get(letter.to)
      if (me && to)
        setTimeout(async () => {
          await office.inbox(me)
          await office.letter(me, to.account.name, 'and you?')
        }, 5)
      return woken('started', 'a turn began')
    }
    await office.watch(answering)
    await office.letter(ada, 'ben')
    for (let before = -1; before !== answering.letters.length; await Bun.sleep(200)) before = answering.letters.length
    expect(answering.letters.length).toBe(LIMITS.hopQuiet + 1)
  }, 20_000)

  test('mail that must wake nobody wakes nobody', async () => {
    const send = () => office.call(ada, 'send', { to: 'ben', subject: '', body: 'more' })
    while ((await send()).wake_suppressed === undefined);
    // the bucket gives a token twice a second
    for (let answer = await send(); ; answer = await send()) {
      if (answer.wake_suppressed !== 'rate') continue
      await settled()
      expect(door.letters.map(({ id }) => id)).not.toContain(answer.message_id)
      break
    }
  })
})

describe('nobody there', () => {
  test('is said, and the agent is woken once when it comes', async () => {
    await office.end(ben)
    await office.letter(ada, 'ben')
    await office.letter(ada, 'ben')
    await settled()
    expect(door.letters).toHaveLength(0)
    expect(logOf(ben)).toMatchObject([{ outcome: 'no_door', door: null, count: 2 }])
    expect(office.watcher?.due(ben.account.box)).toBe(2)
    await office.session(ben.account)
    await settled()
    expect(door.letters.map(({ count }) => count)).toEqual([2])
    expect(office.watcher?.due(ben.account.box)).toBe(0)
    await office.session(ben.account)
    await settled()
    expect(door.letters).toHaveLength(1)
  })

  test('mail that came while the mailbox was down wakes once it is up, once; also what had been due before', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'm4a-wake-'))
    const open = async () => new PostOffice(await openStore(join(folder, 'mail.sqlite')))
    let far = await open()
    const from = await far.session(await far.account('ada'))
    const to = await far.session(await far.account('ben'))
    await far.watch(door)
    await far.letter(from, 'ben')
    await settled()
    expect(door.letters).toHaveLength(1)
    // stopped, and mail is stored while nobody watches
    await far.watcher?.stop()
    await far.inbox(to)
    const missed = await far.letter(from, 'ben')
    await far.watch(door)
    await settled()
    expect(door.letters.map(({ id }) => id).slice(1)).toEqual([missed])
    await far.inbox(to)
    // shut, then stopped: due over the restart
    door.probeAnswer = notReady('shut')
    const due = await far.letter(from, 'ben')
    await settled()
    await far.close()
    door.probeAnswer = ready()
    far = await open()
    await far.watch(door)
    await settled()
    expect(door.letters.map(({ id }) => id).slice(2)).toEqual([due])
    await far.close()
    rmSync(folder, { recursive: true })
  })

  test('what was woken is not woken again by a restart', async () => {
    await office.letter(ada, 'ben')
    await settled()
    for (let starts = 0; starts < 3; starts++) {
      await office.watch(door)
      await settled()
    }
    expect(door.letters).toHaveLength(1)
  })
})
