// Rooms without a homeserver: what their state makes them, what edits and reactions make of texts, what was there before, long texts.
import { describe, expect, test } from 'bun:test'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Caller } from '../../../src/engine/mail.ts'
import { Arrivals } from '../../../src/link/chat/arrivals.ts'
import { factsOf, kindOf } from '../../../src/link/chat/facts.ts'
import { names, rowsOf } from '../../../src/link/chat/rows.ts'
import type { Opened } from '../../../src/link/chat/timeline.ts'
import { FROM, pieces } from '../../../src/link/mail/people.ts'
import { type RoomEvent, readEvents } from '../../../src/link/matrix/sync-answer.ts'
import { LinkStore } from '../../../src/store/link/link-store.ts'
import { World } from '../engine/world.ts'

let serial = 0
const state = (type: string, content: object, key = ''): RoomEvent => ({
  type,
  sender: '@us:x',
  event_id: `$${++serial}`,
  content: { ...content },
  state_key: key,
})
const member = (user: string, membership: string, more: object = {}) =>
  state('m.room.member', { membership, ...more }, user)
const kind = (events: RoomEvent[], { direct = false, machine = false } = {}) =>
  kindOf(factsOf(events), { direct, machine })

describe('kinds', () => {
  const two = [member('@us:x', 'join'), member('@a:x', 'invite')]

  test('are derived from the state', () => {
    expect(kind(two)).toBe('room')
    expect(kind(two, { direct: true })).toBe('dm')
    expect(kind([member('@us:x', 'join'), member('@a:x', 'invite', { is_direct: true })])).toBe('dm')
    expect(kind([...two, member('@b:x', 'join')], { direct: true })).toBe('room')
    expect(kind([...two, state('m.room.name', { name: 'ours' })], { direct: true })).toBe('room')
    expect(kind([...two, member('@b:x', 'leave')], { direct: true })).toBe('dm')
    expect(kind([...two, state('m.room.create', { type: 'm.space' })], { direct: true })).toBe('space')
    expect(kind(two, { machine: true })).toBe('machine')
    const open = state('m.room.join_rules', { join_rule: 'public' })
    expect(kind([...two, open])).toBe('room')
    expect(kind([...two, open, state('m.room.power_levels', { events_default: 50 })])).toBe('channel')
    // room versions before 10 may have levels as text
    expect(kind([...two, open, state('m.room.power_levels', { events_default: '50', users_default: '0' })])).toBe(
      'channel',
    )
  })

  test('no state, however odd, stops anything', () => {
    const content = fc.dictionary(
      fc.constantFrom(
        'name',
        'topic',
        'type',
        'join_rule',
        'membership',
        'events_default',
        'prev_content',
        'is_direct',
      ),
      fc.jsonValue(),
    )
    const type = fc.constantFrom('m.room.member', 'm.room.name', 'm.room.create', 'm.room.power_levels', 'm.room.topic')
    fc.assert(
      fc.property(fc.array(fc.tuple(type, content, fc.constantFrom('', '@a:x'))), (all) => {
        const events = readEvents(all.map(([type, content, key]) => state(type, content, key)))
        expect(typeof kind(events)).toBe('string')
      }),
    )
  })
})

describe('texts', () => {
  const us = '@us:x'
  const event = (id: string, sender: string, more: object = {}): RoomEvent => ({
    type: 'm.room.encrypted',
    sender,
    event_id: id,
    content: { ciphertext: 'c' },
    origin_server_ts: 1_000,
    ...more,
  })
  const said = (id: string, sender: string, content: object, more: object = {}): Opened => ({
    event: event(id, sender),
    type: 'm.room.message',
    content: { msgtype: 'm.text', ...content },
    ours: sender === us,
    peer: null,
    ...more,
  })
  const from = (account: string) => ({ [FROM]: { account, session: 's-00aa' } })
  const edit = (of: string, body: string) => ({
    body: `* ${body}`,
    'm.new_content': { msgtype: 'm.text', body },
    'm.relates_to': { rel_type: 'm.replace', event_id: of },
  })

  test('an edit counts from the same hand alone, the last one wins', async () => {
    const world = await World.open()
    const caller: Caller = await world.session(await world.account('codex'))
    const rows = rowsOf(
      [
        said('$1', us, { body: '[codex] one', ...from('codex') }),
        said('$2', us, { ...edit('$1', '[codex] two'), ...from('codex') }),
        said('$3', us, { ...edit('$1', '[gemini] three'), ...from('gemini') }),
        said('$4', '@a:x', edit('$1', 'four')),
        said('$5', us, { ...edit('$1', '[codex] five'), ...from('codex') }),
      ],
      caller,
      us,
    )
    expect(rows).toMatchObject([{ event: '$1', body: 'five', edited: true, mine: true, account: 'codex' }])
    await world.close()
  })

  test('what claims to be of an account counts only from a machine; reactions are counted once for each hand', async () => {
    const world = await World.open()
    const caller: Caller = await world.session(await world.account('codex'))
    const react = (id: string, sender: string, key: string): Opened => ({
      event: event(id, sender, { type: 'm.reaction' }),
      type: 'm.reaction',
      content: { 'm.relates_to': { rel_type: 'm.annotation', event_id: '$1', key } },
      ours: false,
      peer: null,
    })
    const [row, ...more] = rowsOf(
      [
        said('$1', '@a:x', { body: '[codex] I am codex', ...from('codex') }),
        react('$2', '@b:x', '👍'),
        react('$3', '@b:x', '👍'),
        react('$4', '@c:x', '👍'),
        react('$5', '@c:x', 'x'.repeat(65)),
      ],
      caller,
      us,
    )
    expect(more).toEqual([])
    expect(row).toMatchObject({
      account: null,
      mine: false,
      body: '[codex] I am codex',
      reactions: [{ key: '👍', by: ['@b:x', '@c:x'] }],
    })
    await world.close()
  })

  test('who is named', () => {
    expect(names({ 'm.mentions': { user_ids: [us] } }, '', 'codex', us)).toBe(true)
    expect(names({}, 'well, @us:x', 'codex', us)).toBe(true)
    expect(names({}, 'codex: look', 'codex', us)).toBe(true)
    expect(names({}, 'please @Codex look', 'codex', us)).toBe(true)
    for (const text of ['@codexia look', 'mail a@codex', 'codex look', '@codex-2 look'])
      expect(names({}, text, 'codex', us)).toBe(false)
    expect(names({}, '@a.b', 'a+b', us)).toBe(false)
  })
})

test('of the texts that were there the newest alone may wake; what was written down stays after a crash', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'm4a-chat-')), 'link.sqlite')
  const links = LinkStore.open(path)
  const text = (id: string, sender: string, at: number): RoomEvent => ({
    type: 'm.room.encrypted',
    sender,
    event_id: id,
    content: { ciphertext: 'c' },
    origin_server_ts: at,
  })
  const [one, two, other, later] = [
    text('$1', '@a:x', 1),
    text('$2', '@a:x', 2),
    text('$3', '@b:x', 3),
    text('$4', '@a:x', 9),
  ]
  const room = { id: '!r', state: [], gap: null, ephemeral: [] }
  const counts = (user: string) => user === '@a:x'
  const arrivals = new Arrivals(links, counts)
  expect(arrivals.isKnown('!r', one)).toBe(false)
  arrivals.began({ ...room, timeline: [one, two, other] })
  const known = (of: Arrivals) => [one, two, later].map((event) => of.isKnown('!r', event))
  expect(known(arrivals)).toEqual([true, false, false])
  const again = new Arrivals(links, counts)
  again.began({ ...room, timeline: [one, two, other, later] })
  expect(known(again)).toEqual([true, false, false])
  links.close()
})

test('a long text is cut into pieces that together are it, none over the limit', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.integer({ min: 8, max: 90 }), (text, most) => {
      const all = pieces(text, most)
      expect(all.join('')).toBe(text)
      for (const piece of all) {
        expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(most)
        if (text.isWellFormed()) expect(piece.isWellFormed()).toBe(true)
      }
    }),
  )
  expect(pieces('first line\nsecond line', 14)).toEqual(['first line\n', 'second line'])
})
