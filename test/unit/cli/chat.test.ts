// What the chat commands ask, and what people read of the answers; a text of a room cannot pass for a line of ours.
import { expect, test } from 'bun:test'
import type { ChatRoom, ChatText } from '../../../src/wire/chat.ts'
import { type Canned, canned, now } from './canned.ts'
import { expectGolden } from './golden.ts'
import { type Ran, sh } from './shell.ts'

process.env.TZ = 'UTC'

const text = ({ code, out, err }: Ran) => `${out}--- stderr\n${err}--- exit ${code}\n`
const ROOM: ChatRoom = {
  room: '!dm:x',
  name: null,
  topic: null,
  alias: null,
  kind: 'dm',
  membership: 'join',
  encrypted: true,
  members: ['@desk:x', '@lukas:x'],
  invited: [],
  invited_by: null,
  bound: null,
}
const TEXT: ChatText = {
  event: '$one',
  from: '@lukas:x',
  peer: 'lukas',
  account: null,
  mine: false,
  at: now,
  kind: 'text',
  body: 'hello\u001b[2J\nevent  $forged',
  reason: null,
  proved: true,
  edited: true,
  reply_to: null,
  thread: null,
  mentioned: true,
  reactions: [{ key: '👍', by: ['codex', '@anna:x'] }],
}
const ROOMS: ChatRoom[] = [
  ROOM,
  { ...ROOM, room: '!b:x', name: 'The Build', kind: 'room', invited: ['@anna:x'], bound: 'build' },
  { ...ROOM, room: '!l:x', name: 'Lobby', kind: 'channel', encrypted: false },
  { ...ROOM, room: '!i:x', kind: 'room', membership: 'invite', encrypted: false, members: [], invited_by: '@eve:x' },
]
const MESSAGES: ChatText[] = [
  TEXT,
  {
    ...TEXT,
    event: '$two',
    from: '@desk:x',
    peer: null,
    account: 'codex',
    mine: true,
    body: 'done',
    edited: false,
    reply_to: '$one',
    mentioned: false,
    reactions: [],
  },
  {
    ...TEXT,
    event: '$three',
    peer: null,
    kind: 'unreadable',
    body: null,
    reason: 'nobody has pinned that device',
    proved: false,
    edited: false,
    mentioned: false,
    reactions: [],
  },
]
const SENT = { room: '!dm:x', event: '$new', readers: ['@lukas:x'], withheld: ['@anna:x'] }
const READ = { room: ROOM, messages: MESSAGES, before: 't1-2' }

test.each([
  ['chat-list', ['chat', 'list'], { '/chat/list': { rooms: ROOMS } }],
  ['chat-read', ['chat', 'read', 'lukas', '-n', '3'], { '/chat/read': READ }],
  ['chat-send', ['chat', 'send', 'lukas', 'hi'], { '/chat/send': SENT }],
  [
    'chat-receipts',
    ['chat', 'receipts', 'lukas'],
    { '/chat/receipts': { room: '!dm:x', read: [{ user: '@lukas:x', event: '$one', at: now }], typing: ['@lukas:x'] } },
  ],
  [
    'chat-tag',
    ['chat', 'tag', 'lukas'],
    { '/chat/tag': { room: '!dm:x', tags: [{ tag: 'm.favourite', order: 0.5 }] } },
  ],
  ['chat-mentions', ['chat', 'mentions'], { '/chat/mentions': { mentions: [{ ...TEXT, room: '!dm:x' }] } }],
] as const)('%s', async (golden, argv, answers) => {
  using mailbox = canned(answers)
  await expectGolden(golden, text(await sh([...argv], mailbox.shell)))
})

const asked = async (
  argv: string[],
  answers: Record<string, unknown>,
): Promise<Canned['asked'][number] | undefined> => {
  using mailbox = canned(answers)
  expect(await sh(argv, mailbox.shell)).toMatchObject({ code: 0, err: '' })
  return mailbox.asked.at(-1)
}

test('each command asks what it says', async () => {
  const room = { '/chat/create': ROOM, '/chat/typing': ROOM, '/chat/kick': ROOM, '/chat/join': ROOM }
  const send = {
    '/chat/send': SENT,
    '/chat/reply': SENT,
    '/chat/edit': SENT,
    '/chat/react': SENT,
    '/chat/forward': SENT,
  }
  const body = async (argv: string[], answers: Record<string, unknown>) => (await asked(argv, answers))?.body
  expect(await body(['chat', 'send', 'b', 'hi', '--thread', 'root', '--kind', 'notice'], send)).toEqual({
    room: 'b',
    text: 'hi',
    kind: 'notice',
    reply_to: null,
    edit: null,
    thread: '$root',
    idempotency_key: null,
  })
  expect(await body(['chat', 'reply', 'b', '$e', 'hi'], send)).toMatchObject({ room: 'b', event: '$e', text: 'hi' })
  expect(await body(['chat', 'react', 'b', 'e', '👍'], send)).toEqual({ room: 'b', event: '$e', key: '👍' })
  expect(await body(['chat', 'forward', 'b', 'e', 'c'], send)).toEqual({ room: 'b', event: '$e', to: 'c' })
  expect(await body(['chat', 'create', 'ops', '--invite', 'a,b', '--channel'], room)).toEqual({
    name: 'ops',
    topic: null,
    kind: 'channel',
    invite: ['a', 'b'],
  })
  expect(await body(['chat', 'create', '--with', 'a'], room)).toMatchObject({ kind: 'dm', name: null, invite: ['a'] })
  expect(await body(['chat', 'typing', 'b', '--off'], room)).toEqual({ room: 'b', on: false })
  expect(await asked(['chat', 'search', 'rooms', 'a', 'b'], { '/chat/find_rooms': { rooms: [] } })).toMatchObject({
    path: '/chat/find_rooms',
    body: { query: 'a b', limit: null },
  })
  expect(await body(['chat', 'data', 'a.b', '{"x":1}'], { '/chat/data': { type: 'a.b', content: { x: 1 } } })).toEqual({
    type: 'a.b',
    room: null,
    content: { x: 1 },
  })
})

test('what cannot be meant is usage', async () => {
  for (const argv of [
    ['chat', 'send', 'b', 'hi', '--edit', 'e', '--reply-to', 'f'],
    ['chat', 'send', 'b', 'hi', '--kind', 'shout'],
    ['chat', 'create'],
    ['chat', 'create', 'x', '--with', 'a'],
    ['chat', 'create', 'x', '--space', '--channel'],
    ['chat', 'bind', 'b'],
    ['chat', 'bind', 'b', '#c', '--off'],
    ['chat', 'tag', 'b', '--off'],
    ['chat', 'tag', 'b', 't', '--order', '7'],
    ['chat', 'data', 't', '[1]'],
    ['chat', 'search', 'planets', 'x'],
    ['chat', 'search', 'users'],
  ])
    expect(await sh(argv)).toMatchObject({ code: 2, out: '' })
})
