// What environments, folders, records and indexes say of agents: each rule once, and no id or value in what is refused.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import {
  agentsIn,
  aliasesIn,
  DamagedRecord,
  sessionAt,
  sessionRecordsIn,
  sessionsInIndex,
  skipIn,
} from '../../../../src/wake/detect/agents.ts'
import { filledFrom, parseEnvFile, refusedIn } from '../../../../src/wake/detect/env-file.ts'
import { detectHost, UnknownName } from '../../../../src/wake/detect/host.ts'
import { folderIdOf, freeNick, nickFromDisplayName } from '../../../../src/wake/detect/nick.ts'
import { Disagreement, resolveSession } from '../../../../src/wake/detect/resolve.ts'

describe('nicks', () => {
  test('are transliterated and made slugs', () => {
    const nicks: Record<string, string | null> = {
      'Привет мир': 'privet-mir',
      'foo+bar': 'foo-bar',
      'Щука Ёж': 'shchuka-yozh',
      'Київ Ґанок': 'kiyiv-ganok',
      '  --A  b--  ': 'a-b',
      漢字: null,
      '': null,
    }
    for (const [name, nick] of Object.entries(nicks)) expect(nickFromDisplayName(name)).toBe(nick)
    expect(nickFromDisplayName(`${'a'.repeat(31)} b`)).toBe('a'.repeat(31))
    expect(folderIdOf('My Routine!')).toBe('my-routine')
    expect(folderIdOf('!')).toBeNull()
  })
  test('are names, and come to themselves (property)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (name) => {
        const nick = nickFromDisplayName(name)
        if (nick === null) return
        expect(nick).toMatch(/^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/)
        expect(nickFromDisplayName(nick)).toBe(nick)
        expect(folderIdOf(nick)).toBe(nick)
      }),
    )
  })
  test('that are taken get a number within the same length', () => {
    const long = 'a'.repeat(32)
    expect(freeNick('bo', new Set(['bo', 'bo-2']))).toBe('bo-3')
    expect(freeNick(long, new Set([long]))).toBe(`${'a'.repeat(30)}-2`)
  })
})

describe('the host', () => {
  test.each([
    [{}, 'local', null, null],
    [{ CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'x' }, 'local', null, 'claude'],
    [{ CODEX_THREAD_ID: 't' }, 'local', null, 'codex'],
    [{ CURSOR_AGENT: '1' }, 'local', null, 'cursor'],
    [{ CLAUDE_CODE_REMOTE: 'true' }, 'web', 'claude-web', 'claude'],
    [{ M4A_WEB_VENDOR: 'grok_bot', M4A_PROVIDER: 'grok' }, 'web', 'grok-bot', 'grok'],
    [{ M4A_WEB_VENDOR: 'codex', M4A_SURFACE: 'local' }, 'local', null, null],
    [{ M4A_SURFACE: 'web', M4A_PROVIDER: ' Kimi-Code ' }, 'web', null, 'kimi'],
    [{ CODEX_THREAD_ID: 't', M4A_PROVIDER: 'claude' }, 'local', null, 'claude'],
  ] as const)('%j', (env, surface, vendor, provider) => {
    expect(detectHost(env)).toMatchObject({ surface, vendor, provider })
  })
  test('says who attends and which id the client has', () => {
    expect(detectHost({ CLAUDECODE: '1', CLAUDE_SESSION_ID: 'b' }).sessionId).toBe('b')
    expect(detectHost({ CLAUDECODE: '1', CLAUDE_CODE_SESSION_ATTENDED: '0' }).headless).toBe(true)
    expect(detectHost({ M4A_HEADLESS: '1' }).headless).toBe(true)
    expect(detectHost({}).headless).toBe(false)
  })
  test.each(['M4A_PROVIDER', 'M4A_WEB_VENDOR', 'M4A_SURFACE'])('%s that is not known is refused by name', (name) => {
    const refused = () => detectHost({ [name]: 'secret-value' })
    expect(refused).toThrow(UnknownName)
    expect(refused).toThrow(name)
    expect(refused).not.toThrow('secret-value')
  })
})

describe('the resolver', () => {
  test('takes the first that knows, and what others add', () => {
    expect(
      resolveSession([
        { name: 'a', session: null },
        { name: 'b', session: 'x' },
        { name: 'c', session: 'x', local: 'l' },
      ]),
    ).toEqual({ session: 'x', local: 'l', from: 'b' })
    expect(resolveSession([{ name: 'a', session: null, local: 'l' }])).toBeNull()
  })
  test('refuses two that disagree, without their ids', () => {
    const two = () =>
      resolveSession([
        { name: 'a', session: 'id-one' },
        { name: 'b', session: 'id-two' },
      ])
    expect(two).toThrow(Disagreement)
    expect(two).toThrow('a and b name different sessions')
    const locals = [
      { name: 'a', session: 'x', local: 'l' },
      { name: 'b', session: null, local: 'm' },
    ]
    expect(() => resolveSession(locals)).toThrow('local sessions')
  })
})

describe('agents of a host', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'm4a-agents-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))
  const agent = (name: string, profile: string | null) => {
    mkdirSync(join(folder, name))
    if (profile !== null) writeFileSync(join(folder, name, 'profile.json'), profile)
  }
  const record = (name: string, value: object) => writeFileSync(join(folder, name), JSON.stringify(value))

  test('are folders with a profile; aliases and the list of those left alone count', () => {
    agent('a1', '{"name":"Привет"}')
    agent('a2', '{"name":"Привет"}')
    agent('a3', '{"name":"Left Alone"}')
    agent('a4', '{"name":""}')
    agent('a5', '{')
    agent('a6', null)
    agent('.hidden', '{"name":"hidden"}')
    writeFileSync(join(folder, 'file'), 'x')
    const found = agentsIn(folder, { aliases: aliasesIn('a2=old-session, broken, =x'), skip: skipIn('left-alone, ') })
    expect(found.map(({ agent, session, nick }) => [agent, session, nick])).toEqual([
      ['a1', 'a1', 'privet'],
      ['a2', 'old-session', 'privet-2'],
    ])
    expect(agentsIn(join(folder, 'nowhere'), { aliases: new Map(), skip: new Set() })).toEqual([])
  })

  test('records hold three members and no more', () => {
    record('a.json', { bot_name: 'One', session_id: 's1' })
    record('b.json', { bot_name: 'Two', session_id: 's2', agent_id: 'a2' })
    expect(sessionRecordsIn(folder).map(({ nick, agent }) => [nick, agent])).toEqual([
      ['one', 's1'],
      ['two', 'a2'],
    ])
    for (const odd of [
      { bot_name: 'X', session_id: 's3', url: 'http://secret' },
      { bot_name: 'X', session_id: 's1' },
      { bot_name: 'ONE', session_id: 's4' },
      { bot_name: '字', session_id: 's5' },
      { bot_name: 'X', session_id: 'legacy-user-1' },
      { session_id: 's6' },
    ]) {
      record('c.json', odd)
      expect(() => sessionRecordsIn(folder)).toThrow('c.json is no record of a session')
    }
  })

  test('an empty index is none, a damaged one an error, two of one folder refused', () => {
    expect(sessionsInIndex('')).toEqual([])
    expect(sessionsInIndex('[]')).toEqual([])
    const rows = sessionsInIndex('[{"session_id":"x","pid":1,"cwd":"/a"},{"session_id":"y","cwd":"/b"}]')
    expect(sessionAt(rows, '/a')?.sessionId).toBe('x')
    expect(sessionAt(rows, '/c')).toBeNull()
    expect(() => sessionAt([...rows, ...rows], '/a')).toThrow(DamagedRecord)
    for (const text of ['{', '{}', '"x"', '[1]', '[{"pid":1}]'])
      expect(() => sessionsInIndex(text)).toThrow(DamagedRecord)
  })
})

describe('the file of settings', () => {
  test('fills what is unset', () => {
    const file = parseEnvFile('# a comment\n\nexport A="one two"\nB = \'x\'\r\nC=\nnot a line\nD=a=b\n')
    expect([...file]).toEqual([
      ['A', 'one two'],
      ['B', 'x'],
      ['C', ''],
      ['D', 'a=b'],
    ])
    expect(filledFrom({ A: 'kept', B: '' }, file)).toEqual({ A: 'kept', B: 'x', D: 'a=b', C: '' })
  })
  test('combinations that must not be are named, values are not', () => {
    expect(refusedIn({})).toBeNull()
    expect(refusedIn({ M4A_ROUTINE_BEARER: 'secret' })).toBe('M4A_ROUTINE_BEARER without M4A_ROUTINE_URL')
    for (const name of ['M4A_ROUTINE_URL', 'M4A_CLAUDE_ROUTINE_TOKEN', 'M4A_KIMI_SERVER_TOKEN'])
      expect(refusedIn({ [name]: 'secret' })).toStartWith(name)
    expect(refusedIn({ M4A_ROUTINE_URL: 'secret', M4A_ROUTINE_BEARER: 'secret' })).not.toContain('secret')
    expect(refusedIn({ M4A_AGENTS_DIR: '/a', M4A_SESSIONS_DIR: '/b' })).toContain('one list of agents')
  })
})
