// Two compiled mailboxes as two machines over a real homeserver: mail, answers, rooms, receipts, crashes, and what the server sees.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Synapse } from '../support/synapse.ts'
import { type Answer, Machine, until } from './link-machines.ts'

let synapse: Synapse
let laptop: Machine
let desk: Machine
const SECRET = 'xyzzy-plugh-body'

beforeAll(async () => {
  synapse = await Synapse.start()
  laptop = await Machine.start(synapse, 'anna', 'claude')
  desk = await Machine.start(synapse, 'bert', 'codex')
}, 300_000)

afterAll(async () => {
  await laptop?.[Symbol.asyncDispose]()
  await desk?.[Symbol.asyncDispose]()
  await synapse?.[Symbol.asyncDispose]()
})

const subjects = (letters: Answer[]) => letters.map((letter) => letter.subject)
const arrived = (machine: Machine, subject: string) =>
  until(`${subject} at ${machine.user}`, async () => (await machine.inbox()).find((one) => one.subject === subject))

test('mail to a machine that nobody pinned is refused by name', async () => {
  expect(await laptop.send('codex@desk', 's', 'b').catch((error) => error.message)).toBe('unknown_machine')
})

test('mail waits with its reason until both sides have pinned, and then arrives', async () => {
  const entry = await laptop.pin('desk', desk, { accounts: ['claude'], rooms: ['build'] })
  expect(entry).toMatchObject({ name: 'desk', by: 'device', wake: false })
  const sent = await laptop.send('codex@desk', 'early', SECRET)
  expect(sent.results[0]).toMatchObject({ ok: true, to_text: 'codex@desk' })
  await until('the reason', async () => (await laptop.receipt(sent.message_id)).remote.reason?.includes('pin'))
  expect((await laptop.receipt(sent.message_id)).remote.state).toBe('queued')
  await desk.pin('laptop', laptop, { accounts: ['codex'] })
  const letter = await arrived(desk, 'early')
  expect(letter).toMatchObject({ body: SECRET, to_text: 'codex', attested_by: 'laptop', wake_suppressed: 'peer' })
  expect(letter.from).toMatchObject({ kind: 'session', participant: 'claude', machine: 'laptop' })
  await until('received', async () => (await laptop.receipt(sent.message_id)).remote.state === 'received')
})

test('an answer comes back into the session and the thread; opened and closed are told', async () => {
  const refs = [{ kind: 'git.commit', locator: 'repo@abc', digest: 'abcdef' }]
  const sent = await laptop.send('codex@desk', 'subject-zanzibar', 'what? äöü 🐟\r\n', { refs, correlation: 'c-1' })
  const letter = await arrived(desk, 'subject-zanzibar')
  expect(letter).toMatchObject({ refs, correlation: 'c-1', body: 'what? äöü 🐟\r\n', hop: 1 })
  await desk.agent.ask('http', 'get', { message_id: letter.message_id })
  await until('opened', async () => (await laptop.receipt(sent.message_id)).state === 'opened')
  await desk.agent.ask('http', 'send', { reply_to: letter.message_id, body: 'this', close: true })
  const answer = await arrived(laptop, 'Re: subject-zanzibar')
  expect(answer).toMatchObject({ reply_to: sent.message_id, thread: sent.thread, hop: 3 })
  expect(answer.to_text).toBe(sent.from_text)
  const receipt = await until('closed', async () => {
    const one = await laptop.receipt(sent.message_id)
    return one.state === 'closed' ? one : null
  })
  expect(receipt).toMatchObject({ close_reason: 'replied' })
  expect(receipt.closed_by).toStartWith('codex@desk/s-')
  // and on: both threads stay one thread
  await laptop.agent.ask('http', 'send', { reply_to: answer.message_id, body: 'thanks' })
  const thanks = await until('thanks', async () => (await desk.inbox()).find((one) => one.body === 'thanks'))
  expect(thanks.thread).toBe(letter.thread)
})

test('an account, a room or a session that is not on the list is refused over there, by name', async () => {
  await desk.box.account('gemini')
  const sent = await laptop.send('gemini@desk', 'not for you', 'b')
  const room = await laptop.send('#build@desk', 'no room', 'b')
  for (const one of [sent, room]) {
    const refused = await until('refused', async () => {
      const { remote } = await laptop.receipt(one.message_id)
      return remote?.state === 'refused' ? remote : null
    })
    expect(refused.reason).toStartWith('peer_not_allowed')
  }
})

test('a room that both share is one room', async () => {
  for (const [machine, peer] of [
    [laptop, 'desk'],
    [desk, 'laptop'],
  ] as const) {
    await machine.box.admin('room', { id: 'build' })
    await machine.box.admin('room/member/add', { room: 'build', participant: machine.account })
    const shared = await machine.box.admin('link/peer/allow', { name: peer, share: ['build'] })
    expect(shared).toMatchObject({ shared: ['build'], rooms: ['build'] })
  }
  await laptop.send('#build', 'to all', 'room body')
  const letter = await arrived(desk, 'to all')
  expect(letter).toMatchObject({ to_text: '#build', attested_by: 'laptop' })
  await desk.agent.ask('http', 'send', { reply_to: letter.message_id, body: 'to all again' })
  expect(await arrived(laptop, 'Re: to all')).toMatchObject({ to_text: '#build', thread: expect.any(String) })
  await Bun.sleep(1_000)
  expect(subjects(await desk.inbox()).filter((one) => one === 'to all')).toHaveLength(1)
})

test('the largest body crosses in pieces', async () => {
  const body = '"\\é'.repeat(16_384)
  await laptop.send('codex@desk', 'large', body)
  const letter = await arrived(desk, 'large')
  const whole = await desk.agent.ask('http', 'get', { message_id: letter.message_id })
  expect((whole.message ?? whole).body).toBe(body)
})

test('nothing is lost or doubled when each side and the homeserver are killed in the middle of sending', async () => {
  const count = 240
  let next = 0
  const sending = (async () => {
    for (; next < count; next++) {
      const key = `k-${next}`
      const once = () => laptop.send('codex@desk', `kill ${next}`, `${SECRET} ${next}`, { idempotency_key: key })
      for (let tries = 0; ; tries++) {
        const ok = await Promise.race([
          once().then((answer) => answer.message_id !== undefined),
          Bun.sleep(3_000),
        ]).catch(() => false)
        if (ok) break
        if (tries > 60) throw new Error('the sender gives up')
        await Bun.sleep(100)
      }
      await Bun.sleep(30)
    }
  })()
  for (let round = 0; round < 20; round++) {
    await Bun.sleep(300)
    const victim = round % 2 === 0 ? laptop : desk
    await victim.box.down('SIGKILL')
    await victim.box.up()
    if (round === 8) {
      await synapse.down()
      await Bun.sleep(300)
      await synapse.up()
    }
  }
  await sending
  const wanted = Array.from({ length: count }, (_, index) => `kill ${index}`)
  const got = await until(
    'all of them',
    async () => {
      const all = subjects(await desk.inbox()).filter((subject) => subject.startsWith('kill '))
      return all.length >= count ? all : null
    },
    90_000,
  )
  await Bun.sleep(2_000)
  expect(subjects(await desk.inbox()).filter((subject) => subject.startsWith('kill '))).toEqual(got)
  expect(got).toEqual(wanted)
  expect((await desk.status()).undecryptable).toEqual([])
  expect((await laptop.peer('desk')).queued).toBe(0)
}, 240_000)

test('no message key was used twice', async () => {
  const login = {
    type: 'm.login.password',
    identifier: { type: 'm.id.user', user: 'bert' },
    password: 'pw-bert-0123456789',
  }
  const { access_token, device_id } = await synapse.call('POST', '/login', { ...login, device_id: 'AUDIT' })
  expect(device_id).toBe('AUDIT')
  const { joined_rooms } = await synapse.call('GET', '/joined_rooms', undefined, access_token)
  const seen = new Set<string>()
  let events = 0
  for (const room of joined_rooms) {
    for (let from: string | null = null; ; ) {
      const path = `/rooms/${encodeURIComponent(room)}/messages?dir=b&limit=100${from ? `&from=${from}` : ''}`
      const page = await synapse.call('GET', path, undefined, access_token)
      for (const { type, content } of page.chunk) {
        expect(type).not.toBe('m.room.message')
        if (type !== 'm.room.encrypted') continue
        events++
        const key = `${content.session_id}:${indexOf(content.ciphertext)}`
        expect(seen.has(key)).toBe(false)
        seen.add(key)
      }
      if (!page.end || page.chunk.length === 0) break
      from = page.end
    }
  }
  expect(events).toBeGreaterThan(50)
})

/** The message index of a Megolm message: version, then field 1 as a varint. */
function indexOf(ciphertext: string): number {
  const bytes = Buffer.from(ciphertext, 'base64')
  let index = 0
  for (let at = 2, shift = 0; ; at++, shift += 7) {
    const byte = bytes[at] ?? 0
    index |= (byte & 127) << shift
    if (byte < 128) return index
  }
}

test('a device that somebody added to the account gets nothing, is named, and its mail is kept apart', async () => {
  await using rogue = await Machine.start(synapse, 'bert', 'codex', { exists: true })
  const named = await until('the device is named', async () => {
    const { devices } = (await laptop.box.admin('link/peer/pending', {})) as Answer
    const { device } = (await rogue.status()).identity
    return devices.find((one: Answer) => one.device === device)
  })
  expect(named).toMatchObject({ user: '@bert:localhost' })
  await rogue.pin('laptop', laptop, { accounts: ['codex'] })
  await rogue.send('claude@laptop', 'from the rogue', 'let me in')
  const kept = await until('kept apart', async () => {
    const { quarantined } = await laptop.status()
    return quarantined.find((one: Answer) => one.device === named.device)
  })
  expect(kept).toMatchObject({ peer: 'desk', why: 'nobody has pinned that device' })
  await laptop.send('codex@desk', 'for the pinned one', 'b')
  await arrived(desk, 'for the pinned one')
  await Bun.sleep(1_000)
  expect(subjects(await rogue.inbox())).toEqual([])
  expect(subjects(await laptop.inbox())).not.toContain('from the rogue')
  expect((await laptop.peer('desk')).state).toBe('ready')
})

test('what comes in clear into the encrypted room is refused', async () => {
  const login = { type: 'm.login.password', identifier: { type: 'm.id.user', user: 'bert' } }
  const { access_token } = await synapse.call('POST', '/login', { ...login, password: 'pw-bert-0123456789' })
  const { joined_rooms } = await synapse.call('GET', '/joined_rooms', undefined, access_token)
  const path = `/rooms/${encodeURIComponent(joined_rooms[0])}/send`
  const content = { v: 1, kind: 'frame', msgtype: 'm.text', body: 'in clear' }
  for (const type of ['m.room.message', 'net.mail4agent.mail'])
    await synapse.call('PUT', `${path}/${type}/${crypto.randomUUID()}`, content, access_token)
  await until('it is kept apart', async () => {
    const { quarantined } = await laptop.status()
    return quarantined.filter((one: Answer) => one.why === 'it came in clear').length >= 2
  })
  expect((await laptop.inbox()).some((one) => one.body === 'in clear')).toBe(false)
})

test('a machine that was set up again is an alarm until its new key is pinned', async () => {
  await desk.box.admin('link/off', {})
  expect((await desk.status()).state).toBe('off')
  const waiting = await until('the alarm', async () => {
    const sent = await laptop.send('codex@desk', 'across a new device', 'b', { idempotency_key: 'again' })
    return (await laptop.peer('desk')).state === 'alarm' ? sent : null
  })
  await desk.box.admin('link/setup', {
    homeserver: synapse.url,
    way: 'password',
    user: 'bert',
    secret: 'pw-bert-0123456789',
  })
  expect((await laptop.peer('desk')).state).toBe('alarm')
  await desk.pin('laptop', laptop, { accounts: ['codex'] })
  const { token } = (await desk.status()).identity
  const rotated = await laptop.cli(['link', 'peer', 'rotate', 'desk', token, '--json'])
  expect(rotated).toMatchObject({ code: 0 })
  await arrived(desk, 'across a new device')
  await desk.send('claude@laptop', 'and back', 'b')
  await arrived(laptop, 'and back')
  expect((await laptop.receipt(waiting.message_id)).to_text).toBe('codex@desk')
})

test('a peer that is pinned by the key of its account is trusted with every device that the account vouches for', async () => {
  await using one = await Machine.start(synapse, 'cora', 'claude')
  await using other = await Machine.start(synapse, 'dora', 'codex')
  const pin = async (from: Machine, name: string, to: Machine, accounts: string[]) => {
    const { user, account_key: fingerprint } = await until('an account key', async () => {
      const { identity } = await to.status()
      return identity.account_key === null ? null : identity
    })
    return from.box.admin('link/peer/add', { name, user, fingerprint, master: true, accounts })
  }
  expect(await pin(one, 'other', other, ['claude'])).toMatchObject({ by: 'master' })
  await pin(other, 'one', one, ['codex'])
  await one.send('codex@other', 'by the account key', 'b')
  const letter = await arrived(other, 'by the account key')
  await other.agent.ask('http', 'send', { reply_to: letter.message_id, body: 'and back' })
  await arrived(one, 'Re: by the account key')
  // a device that the account does not vouch for is nobody
  await using rogue = await Machine.start(synapse, 'dora', 'codex', { exists: true })
  const { device } = (await rogue.status()).identity
  await until('it is named', async () => {
    const { devices } = (await one.box.admin('link/peer/pending', {})) as Answer
    return devices.some((seen: Answer) => seen.device === device)
  })
})

test('no word of it lies on the disk of the homeserver', async () => {
  await synapse.down('SIGTERM')
  const disk = synapse.disk()
  for (const word of [SECRET, 'subject-zanzibar', 'kill 1', 'claude', 'codex', '#build', 'what? ', 'repo@abc'])
    expect({ word, found: disk.includes(word) }).toEqual({ word, found: false })
  await synapse.up()
})
