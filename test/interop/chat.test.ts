// Chat commands against a real homeserver, with a person at matrix-js-sdk on the other side: every command, and what each refuses.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Actor } from '../e2e/support/actor.ts'
import { Synapse } from '../support/synapse.ts'
import { type Answer, Machine, until } from './link-machines.ts'
import { Person } from './person.ts'

let synapse: Synapse
let desk: Machine
let gemini: Actor
let lukas: Person
let user = ''
let person: object
/** The room for two with lukas. */
let dm = ''

/** A chat command of an agent: its answer, or its refusal. */
const ask = async (actor: Actor, command: string, request: object): Promise<Answer> =>
  (await actor.call({ door: 'raw', path: `/chat/${command}`, request })).body
const chat = (command: string, request: object = {}) => ask(desk.agent, command, request)
const cli = async (...words: string[]): Promise<Answer> => {
  const { code, out, err } = await desk.cli([...words, '--json', '--as', 'operator'])
  if (code !== 0) return JSON.parse(err)
  return JSON.parse(out)
}
const texts = async (room: string, more: object = {}): Promise<Answer[]> =>
  (await chat('read', { room, ...more })).messages
const textOf = (room: string, event: string) => async () => (await texts(room)).find((one) => one.event === event)

beforeAll(async () => {
  synapse = await Synapse.start()
  desk = await Machine.start(synapse, 'dexter', 'codex')
  gemini = await desk.box.actor(await desk.box.account('gemini'))
  await desk.box.admin('participant/set', { id: 'codex', may_chat: true })
  lukas = await Person.start(synapse, 'lukas', desk.box.root)
  const pinned = await lukas.hear('the key', (one) => one.key)
  user = pinned.user
  person = { name: 'lukas', user, fingerprint: pinned.key, master: true, person: true, accounts: ['*'] }
  expect(await desk.box.admin('link/peer/add', person)).toMatchObject({ state: 'ready' })
}, 300_000)

afterAll(async () => {
  await lukas?.end()
  await desk?.[Symbol.asyncDispose]()
  await synapse?.[Symbol.asyncDispose]()
})

test('who was not granted it may use no room; persons and operators may', async () => {
  expect(await ask(gemini, 'list', {})).toMatchObject({ kind: 'permission_denied', need: 'mail:chat' })
  expect(await chat('list')).toEqual({ rooms: [] })
  expect(await cli('chat', 'list')).toEqual({ rooms: [] })
})

test('a room for two is made and told as one; nothing is written to nobody', async () => {
  dm = (await cli('chat', 'create', '--with', 'lukas')).room
  await lukas.hear('the invitation', (one) => one.joined === dm)
  const found = await until('both are in', async () => {
    const [room] = (await chat('list')).rooms
    return room?.members.includes(user) ? room : null
  })
  expect(found).toMatchObject({ room: dm, kind: 'dm', encrypted: true, membership: 'join', name: null })
  expect((await cli('chat', 'data', 'm.direct')).content).toEqual({ [user]: [dm] })
  const alone = (await chat('create', { name: 'alone' })).room
  expect(await chat('send', { room: alone, text: 'x' })).toMatchObject({ kind: 'nobody_pinned' })
  expect(await chat('send', { room: 'no such room', text: 'x' })).toMatchObject({ kind: 'unknown_chat' })
  expect(await chat('leave', { room: alone })).toEqual({ room: alone })
})

test('send, edit, reply, react, redact: the person sees each, and the other way round', async () => {
  const sent = await chat('send', { room: 'lukas', text: `hello ${user}`, idempotency_key: 'k1' })
  expect(sent).toMatchObject({ room: dm, readers: [user], withheld: [] })
  const seen = await lukas.hear('hello', (one) => one.id === sent.event)
  expect(seen).toMatchObject({ body: `[codex] hello ${user}`, msgtype: 'm.text', mentions: { user_ids: [user] } })
  expect((await chat('send', { room: 'lukas', text: `hello ${user}`, idempotency_key: 'k1' })).event).toBe(sent.event)

  const edited = await chat('edit', { room: dm, event: sent.event, text: 'hello again' })
  expect(await lukas.hear('the edit', (one) => one.id === edited.event)).toMatchObject({
    body: '[codex] hello again',
    relation: { rel_type: 'm.replace', event_id: sent.event },
  })
  expect(await chat('send', { room: dm, text: 'x', edit: sent.event, reply_to: sent.event })).toMatchObject({
    kind: 'malformed',
    field: 'edit',
  })
  expect(await cli('chat', 'edit', dm, sent.event, 'mine now')).toMatchObject({ kind: 'not_yours' })

  const said = await lukas.say(dm, 'nice', { answers: sent.event })
  lukas.order({ react: sent.event, key: '👍', room: dm })
  lukas.order({ edit: said, to: 'very nice', room: dm })
  const mine = await until('the reaction', async () => {
    const one = await textOf(dm, sent.event)()
    return one?.reactions.length ? one : null
  })
  expect(mine).toMatchObject({
    body: 'hello again',
    edited: true,
    mine: true,
    account: 'codex',
    proved: true,
    reactions: [{ key: '👍', by: [user] }],
  })
  const theirs = await until('the edit of the person', async () => {
    const one = await textOf(dm, said)()
    return one?.edited ? one : null
  })
  expect(theirs).toMatchObject({
    body: 'very nice',
    peer: 'lukas',
    from: user,
    proved: true,
    reply_to: sent.event,
    mine: false,
  })
  expect(await chat('edit', { room: dm, event: said, text: 'not mine' })).toMatchObject({ kind: 'not_yours' })
  expect(await chat('redact', { room: dm, event: said })).toMatchObject({ kind: 'not_yours' })

  const answer = await chat('reply', { room: dm, event: said, text: 'thanks' })
  expect(await lukas.hear('the answer', (one) => one.id === answer.event)).toMatchObject({ answers: said })
  const reaction = await chat('react', { room: dm, event: said, key: '🎉' })
  expect(await lukas.hear('the reaction', (one) => one.id === reaction.event)).toMatchObject({
    type: 'm.reaction',
    relation: { rel_type: 'm.annotation', event_id: said, key: '🎉' },
  })
  expect((await textOf(dm, said)())?.reactions).toEqual([{ key: '🎉', by: ['codex'] }])
  await chat('redact', { room: dm, event: reaction.event })
  await lukas.hear('taken back', (one) => one.redacted === reaction.event)
  await chat('redact', { room: dm, event: answer.event })
  await lukas.hear('taken back too', (one) => one.redacted === answer.event)
  expect(await textOf(dm, answer.event)()).toMatchObject({ kind: 'redacted', body: null })
  expect((await textOf(dm, said)())?.reactions).toEqual([])
  expect(await chat('redact', { room: dm, event: '$nothing' })).toMatchObject({ kind: 'unknown_event' })
})

test('threads, mentions and pages', async () => {
  const root = await chat('send', { room: dm, text: 'a plan' })
  await lukas.hear('the plan', (one) => one.id === root.event)
  const first = await chat('send', { room: dm, text: 'step one', thread: root.event })
  expect(await lukas.hear('step one', (one) => one.id === first.event)).toMatchObject({
    relation: { rel_type: 'm.thread', event_id: root.event },
  })
  const second = await lukas.say(dm, 'step two, codex: and @dexter:localhost', { thread: root.event })
  const thread = await until('the thread', async () => {
    const { messages } = await chat('thread', { room: dm, event: root.event })
    return messages.length === 3 ? messages : null
  })
  expect(thread.map((one: Answer) => [one.event, one.body])).toEqual([
    [root.event, 'a plan'],
    [first.event, 'step one'],
    [second, 'step two, codex: and @dexter:localhost'],
  ])
  const { mentions } = await chat('mentions')
  expect(mentions[0]).toMatchObject({ event: second, room: dm, mentioned: true })

  const all = (await texts(dm, { limit: 200 })).map((one) => one.event)
  const paged: string[] = []
  for (let before: string | null = null; ; ) {
    const page: Answer = await chat('read', { room: dm, limit: 2, before })
    paged.unshift(...page.messages.map((one: Answer) => one.event))
    before = page.before
    if (before === null) break
  }
  expect(paged).toEqual(all)
})

test('what a person has read is opened; receipts and typing go both ways', async () => {
  const mail = await desk.send('lukas@lukas', 'release', 'it is out')
  const read = await lukas.hear('the mail', (one) => one.body?.includes('release'))
  await until('sent', async () => (await desk.receipt(mail.message_id)).remote.state === 'sent')
  expect((await desk.receipt(mail.message_id)).state).toBe('new')
  // a receipt at a later text of the person's own counts for those before it
  const after = await lukas.say(dm, '@codex I saw that')
  lukas.order({ read: after, room: dm })
  const opened = await until('opened', async () => {
    const receipt = await desk.receipt(mail.message_id)
    return receipt.state === 'opened' ? receipt : null
  })
  expect(opened.opened_by).toStartWith('lukas@lukas/s-')
  const known = await chat('receipts', { room: dm })
  expect(known.read).toContainEqual({ user, event: expect.any(String), at: expect.any(String) })

  lukas.order({ types: true, room: dm })
  await until('typing', async () => (await chat('receipts', { room: dm })).typing.includes(user))
  lukas.order({ types: false, room: dm })
  await until('no more', async () => (await chat('receipts', { room: dm })).typing.length === 0)
  await chat('typing', { room: dm, on: true })
  await lukas.hear('dexter types', (one) => one.types === true && one.user === '@dexter:localhost')
  await chat('typing', { room: dm, on: false })
  expect(await chat('mark', { room: dm, event: read.id })).toEqual({ room: dm, event: read.id })
  await lukas.hear('dexter has read', (one) => one.read === read.id && one.user === '@dexter:localhost')
})

test('tags and account data; what belongs to encryption is nobody’s to set', async () => {
  expect(await chat('tag', { room: dm, tag: 'm.favourite', order: 0.25 })).toEqual({
    room: dm,
    tags: [{ tag: 'm.favourite', order: 0.25 }],
  })
  expect((await cli('chat', 'tag', dm, 'm.favourite', '--off')).tags).toEqual([])
  expect(await chat('data', { type: 'org.example.note', room: dm, content: { a: 1 } })).toMatchObject({
    content: { a: 1 },
  })
  expect((await cli('chat', 'data', 'org.example.note', '--room', dm)).content).toEqual({ a: 1 })
  expect((await cli('chat', 'data', 'org.example.none')).content).toBeNull()
  expect(await chat('data', { type: 'm.cross_signing.master', content: {} })).toMatchObject({ kind: 'malformed' })
})

test('a bound room: posts go out, texts come in, answers hang on what they answer, and nothing runs in a circle', async () => {
  await desk.box.admin('room', { id: 'build' })
  for (const account of ['codex', 'gemini'])
    await desk.box.admin('room/member/add', { room: 'build', participant: account })
  const room = (await chat('create', { name: 'The Build', topic: 'ci', invite: ['lukas'] })).room
  await lukas.hear('the invitation', (one) => one.joined === room)
  await until('lukas is in', async () =>
    (await chat('list')).rooms.some((one: Answer) => one.room === room && one.members.includes(user)),
  )
  expect(await cli('chat', 'bind', 'the build', '#build')).toEqual({ room, local: 'build' })
  expect((await chat('list')).rooms.find((one: Answer) => one.room === room)).toMatchObject({
    kind: 'room',
    bound: 'build',
  })

  const post = await desk.send('#build', 'red', 'the build is red')
  const out = await lukas.hear('the post', (one) => one.body?.includes('is red'))
  expect(out).toMatchObject({ room, body: '[codex] red\n\nthe build is red' })
  const said = await lukas.say(room, 'who broke it?', { answers: out.id })
  const mailOf = (actor: Actor, body: string) =>
    until(body, async () => {
      const page = await actor.ask('http', 'inbox', { state: 'all', limit: 256 })
      return page.messages.find((one: Answer) => one.body === body)
    })
  const inbound = await mailOf(gemini, 'who broke it?')
  expect(inbound).toMatchObject({
    to_text: '#build',
    attested_by: 'lukas',
    reply_to: post.message_id,
    thread: post.thread,
  })
  await mailOf(desk.agent, 'who broke it?')
  await gemini.ask('http', 'send', { reply_to: inbound.message_id, body: 'it was me' })
  expect(await lukas.hear('the answer', (one) => one.body?.includes('was me'))).toMatchObject({
    room,
    body: '[gemini] it was me',
    answers: said,
  })
  lukas.order({ read: out.id, room })
  const shown = await until('a reader of the post', async () => {
    const { receipts } = await desk.agent.ask('http', 'receipts', { message_id: post.message_id })
    return receipts[0].deliveries.find(
      (one: Answer) => one.participant?.startsWith('#build@!') && one.state === 'opened',
    )
  })
  expect(shown.remote.state).toBe('sent')

  const marker = await desk.send('#build', 'last', 'the last one')
  await lukas.hear('the last', (one) => one.body?.includes('the last one'))
  const everything = (await texts(room, { limit: 200 })).map((one) => one.body)
  expect(everything).toEqual(['red\n\nthe build is red', 'who broke it?', 'it was me', 'last\n\nthe last one'])
  const local = (await gemini.ask('http', 'inbox', { state: 'all', limit: 256 })).messages.map(
    (one: Answer) => one.body,
  )
  expect(local.filter((body: string) => body === 'who broke it?')).toHaveLength(1)
  expect(local).toContain('the last one')

  const forwarded = await chat('forward', { room, event: said, to: 'lukas' })
  expect(await lukas.hear('the forward', (one) => one.id === forwarded.event)).toMatchObject({
    room: dm,
    body: '[codex] lukas wrote:\nwho broke it?',
  })
  expect(await cli('chat', 'bind', room, '--off')).toEqual({ room, local: null })
  await desk.send('#build', 'inside', 'stays here')
  await desk.send('lukas@lukas', 'after', 'a later mail')
  await lukas.hear('the later mail', (one) => one.body?.includes('a later mail'))
  expect(lukas.told.some((one) => one.body?.includes('stays here'))).toBe(false)
  expect(marker.message_id).toBeString()

  await chat('kick', { room, user: 'lukas' })
  await lukas.hear('put out', (one) => one.member === user && one.membership === 'leave' && one.room === room)
  expect(await chat('send', { room, text: 'x' })).toMatchObject({ kind: 'nobody_pinned' })
  expect(await chat('invite', { room, user: 'lukas' })).toEqual({ room })
  await lukas.hear('back in', (one) => one.joined === room)
})

test('a room that two machines have bound: agents of both and a person read each other, once', async () => {
  const lab = await Machine.start(synapse, 'laboratory', 'claude')
  try {
    await desk.pin('lab', lab, { accounts: ['*'] })
    await lab.pin('desk', desk, { accounts: ['*'], wake: true })
    await lab.box.admin('link/peer/add', person)
    await until(
      'pinned',
      async () => (await desk.peer('lab')).state === 'ready' && (await lab.peer('desk')).state === 'ready',
    )
    await desk.send('claude@lab', 'ping', 'over the lane')
    await until('the lane', async () => (await lab.inbox()).some((one) => one.body === 'over the lane'))

    const room = (await chat('create', { name: 'Both', invite: ['lab', 'lukas'] })).room
    await lukas.hear('the invitation', (one) => one.joined === room)
    // a further room of a machine waits for a person; the one that carries mail stays what it is
    const listed = async (): Promise<Answer[]> =>
      (await lab.box.post('/chat/list', lab.box.operatorKey, {})).body.rooms as Answer[]
    const held = await until('the invitation', async () => (await listed()).find((one) => one.room === room))
    expect(held).toMatchObject({ membership: 'invite', invited_by: '@dexter:localhost' })
    await lab.box.post('/chat/join', lab.box.operatorKey, { room })
    await until('all are in', async () => (await listed()).find((one) => one.room === room)?.members.length === 3)
    const carrying = (await listed()).find((one) => one.kind === 'machine')
    expect((await lab.box.post('/chat/send', lab.box.operatorKey, { room: carrying?.room, text: 'x' })).body.kind).toBe(
      'carries_mail',
    )

    for (const { box, account } of [desk, lab]) {
      await box.admin('room', { id: 'both' })
      await box.admin('room/member/add', { room: 'both', participant: account })
      await box.admin('link/bind', { room: 'Both', local: 'both' })
    }
    await desk.send('#both', 'question', 'is it done?')
    const asked = await until('asked', async () => (await lab.inbox()).find((one) => one.body?.endsWith('is it done?')))
    expect(asked).toMatchObject({ to_text: '#both', attested_by: 'desk', hop: 1 })
    expect(asked.from_text).toStartWith('codex@desk/s-')
    const out = await lukas.hear('the question', (one) => one.body?.endsWith('is it done?'))
    await lab.agent.ask('http', 'send', { reply_to: asked.message_id, body: 'it is done' })
    const answered = await until('answered', async () => (await desk.inbox()).find((one) => one.body === 'it is done'))
    expect(answered).toMatchObject({ to_text: '#both', attested_by: 'lab', hop: 3 })
    expect(await lukas.hear('the answer', (one) => one.body === '[claude] it is done')).toMatchObject({
      room,
      answers: out.id,
    })
    const last = await lab.send('#both', 'end', 'the end')
    await until('the end', async () => (await desk.inbox()).some((one) => one.body?.endsWith('the end')))
    expect(last.message_id).toBeString()
    const count = (letters: Answer[], word: string) => letters.filter((one) => one.body?.endsWith(word)).length
    expect(count(await desk.inbox(), 'it is done')).toBe(1)
    expect(count(await lab.inbox(), 'is it done?')).toBe(1)
    await chat('leave', { room })
  } finally {
    await desk.box.admin('link/peer/remove', { name: 'lab' }).catch(() => {})
    await lab[Symbol.asyncDispose]()
  }
})

test('to a pinned person with whom there is no room yet, one is made', async () => {
  const anna = await Person.start(synapse, 'anna', desk.box.root)
  try {
    const { user: id, key } = await anna.hear('the key', (one) => one.key)
    await desk.box.admin('link/peer/add', {
      name: 'anna',
      user: id,
      fingerprint: key,
      master: true,
      person: true,
      accounts: [],
    })
    expect(await chat('read', { room: 'anna' })).toMatchObject({ kind: 'unknown_chat' })
    const sent = await chat('send', { room: 'anna', text: 'hello anna' })
    expect(sent.readers).toEqual([id])
    await anna.hear('the invitation', (one) => one.joined === sent.room)
    expect(await anna.hear('hello', (one) => one.id === sent.event)).toMatchObject({ body: '[codex] hello anna' })
    expect((await chat('send', { room: 'anna', text: 'again' })).room).toBe(sent.room)
    await desk.box.admin('link/peer/remove', { name: 'anna' })
  } finally {
    await anna.end()
  }
})

/** A line of this very process, which has called as the operator, over the command socket. */
const line = (what: object) =>
  new Promise<Answer>((resolve, reject) => {
    let seen = ''
    const socket = connect({ path: join(desk.box.data, 'send.sock'), allowHalfOpen: true }, () =>
      socket.end(`${JSON.stringify(what)}\n`),
    )
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => {
      seen += text
    })
    socket.on('error', reject)
    socket.on('end', () => resolve(JSON.parse(seen)))
  })

test('the command socket: rooms and texts as prior clients know them', async () => {
  const command = (cmd: string, args: object = {}) => line({ cmd, as: 'operator', args })
  const { data } = await command('rooms.list')
  expect(data.rooms.find((one: Answer) => one.room === dm)).toMatchObject({
    membership: 'join',
    encrypted: true,
    title: expect.any(String),
  })
  const sent = await command('rooms.send', { room: 'lukas', text: 'from the socket' })
  expect(sent).toMatchObject({ ok: true, data: { room: dm } })
  expect(await lukas.hear('it', (one) => one.id === sent.data.event_id)).toMatchObject({
    body: '[operator] from the socket',
  })
  const read = await command('rooms.read', { room: dm, limit: 1 })
  expect(read.data).toMatchObject({
    room: dm,
    messages: [{ event_id: sent.data.event_id, from: 'operator', from_id: '@dexter:localhost', kind: 'text' }],
  })
  const reply = await command('rooms.reply', { room: dm, event: sent.data.event_id, text: 'and an answer' })
  expect(await lukas.hear('the answer', (one) => one.id === reply.data.event_id)).toMatchObject({
    answers: sent.data.event_id,
  })
  expect((await command('threads.read', { room: dm, event: sent.data.event_id })).data.messages).toHaveLength(1)
  expect((await command('mentions', { limit: 3 })).ok).toBe(true)
  const made = await command('rooms.create', { name: 'Group', kind: 'group', invite: [] })
  expect((await command('rooms.invite', { room: made.data.room, user: 'lukas' })).ok).toBe(true)
  await lukas.hear('the invitation', (one) => one.joined === made.data.room)
  expect((await command('rooms.leave', { room: made.data.room })).ok).toBe(true)
  expect(await line({ cmd: 'rooms.list', as: 'codex' })).toMatchObject({ ok: false, refusal: { kind: 'not_you' } })
})

test('strangers: an invitation waits, nothing is written in clear, what nobody pinned is not read', async () => {
  const stranger = await synapse.call('POST', '/register', {
    username: 'stranger',
    password: 'pw-stranger-0123456789',
    auth: { type: 'm.login.dummy' },
  })
  const as = (method: string, path: string, body: object = {}) =>
    synapse.call(method, path, body, stranger.access_token)
  const { room_id: room } = await as('POST', '/createRoom', {
    preset: 'public_chat',
    visibility: 'public',
    name: 'Lobby of strangers',
    room_alias_name: 'lobby',
    invite: ['@dexter:localhost'],
  })
  await as('PUT', `/rooms/${encodeURIComponent(room)}/send/m.room.message/t1`, { msgtype: 'm.text', body: 'in clear' })
  const held = await until('the invitation', async () =>
    (await chat('list')).rooms.find((one: Answer) => one.room === room),
  )
  expect(held).toMatchObject({ membership: 'invite', invited_by: '@stranger:localhost' })
  expect((await chat('find_rooms', { query: 'lobby' })).rooms).toMatchObject([{ room, name: 'Lobby of strangers' }])
  expect(await cli('chat', 'join', '#lobby:localhost')).toEqual({ room })
  expect(await texts('#lobby:localhost')).toMatchObject([{ body: 'in clear', proved: false, peer: null }])
  expect(await chat('send', { room: 'lobby of strangers', text: 'x' })).toMatchObject({ kind: 'not_encrypted' })
  const { users } = await until('the directory', async () => {
    const answer = await chat('find_users', { query: 'stranger' })
    return answer.users.length > 0 ? answer : null
  })
  expect(users).toMatchObject([{ user: '@stranger:localhost', peer: null }])

  await as('PUT', `/rooms/${encodeURIComponent(room)}/state/m.room.encryption`, { algorithm: 'm.megolm.v1.aes-sha2' })
  await until('encrypted', async () =>
    (await chat('list')).rooms.some((one: Answer) => one.room === room && one.encrypted),
  )
  expect(await chat('send', { room, text: 'x' })).toMatchObject({
    kind: 'nobody_pinned',
    members: ['@stranger:localhost'],
  })
  await as('PUT', `/rooms/${encodeURIComponent(room)}/send/m.room.message/t2`, {
    msgtype: 'm.text',
    body: 'still clear',
  })
  const refused = await until('refused', async () =>
    (await texts(room)).find((one) => one.reason === 'it came in clear'),
  )
  expect(refused).toMatchObject({ kind: 'unreadable', body: null })
  expect(await chat('retry')).toEqual({ opened: 0, left: 0 })
  expect(await chat('leave', { room })).toEqual({ room })

  const channel = (await chat('create', { name: 'News', kind: 'channel' })).room
  const space = (await chat('create', { name: 'All of it', kind: 'space' })).room
  const kinds = Object.fromEntries((await chat('list')).rooms.map((one: Answer) => [one.room, one.kind]))
  expect([kinds[channel], kinds[space]]).toEqual(['channel', 'space'])
})

test('no text lies at the homeserver in clear', () => {
  const disk = synapse.disk()
  for (const word of ['hello again', 'very nice', 'step one', 'is red', 'was me', 'a later mail', 'it is done'])
    expect(disk.includes(word)).toBe(false)
})
