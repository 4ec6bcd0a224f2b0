// One command in, one command out: `up` on a HOME with five real clients, each then used as its user would, and `down` again.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import type { Prepared } from './agent.ts'
import { type Home, makeHome } from './home.ts'
import type { AnyClient } from './install.ts'
import { tools } from './mail.ts'
import { exeOf, isBelow } from './proc.ts'

const CLIENTS: AnyClient[] = ['claude', 'codex', 'opencode', 'gemini', 'qwen']
/** Installing clients and starting them cold, in milliseconds. */
const START = 600_000
const TURN = 120_000

let model: ScriptedModel
let home: Home
const agents = new Map<AnyClient, Prepared>()

beforeAll(async () => {
  model = startScriptedModel()
  home = await makeHome(CLIENTS, model)
  for (const client of CLIENTS) agents.set(client, await home.prepare(client))
  vary()
}, START)

afterAll(async () => {
  await home?.close()
  await model?.close()
}, START)

/** Files as people have them: comments, CRLF, a mark in front, a link into a folder of dotfiles. */
function vary(): void {
  const edit = (name: string, change: (text: string) => string) => {
    const path = join(home.path, name)
    writeFileSync(path, change(readFileSync(path, 'utf8')))
  }
  edit('.codex/config.toml', (text) => `\uFEFF# mine, with a mark\n${text}\n# the end`.replaceAll('\n', '\r\n'))
  edit('.config/opencode/opencode.json', (text) => text.replace('{', '{ // mine\n').replaceAll('\n', '\r\n'))
  edit('.gemini/settings.json', (text) => text.replace('{', '{\n  /* mine */'))
  renameSync(join(home.path, '.qwen', 'settings.json'), join(home.path, 'qwen-settings.json'))
  symlinkSync('../qwen-settings.json', join(home.path, '.qwen', 'settings.json'))
}

const up = async () => {
  const ran = await home.m4a('up', '--yes', '--no-service', '--json')
  expect(ran).toMatchObject({ code: 0, err: '' })
  return JSON.parse(ran.out)
}

test(
  'up, up again, down: nothing is changed that was not asked for, and every file is back byte for byte',
  async () => {
    const before = home.snapshot()
    const dry = await home.m4a('up', '--dry-run', '--no-service')
    expect(dry).toMatchObject({ code: 0, err: '' })
    expect(dry.out).toContain('+[mcp_servers.mail4agent]')
    expect(home.snapshot()).toEqual(before)

    const first = await up()
    expect(first.daemon).toBe('started in the background')
    expect(first.made.sort()).toEqual([...CLIENTS, 'pat'].sort())
    expect(first.letters.map(({ to }: { to: string }) => to).sort()).toEqual([...CLIENTS].sort())
    const after = home.snapshot()
    for (const [name, content] of after) if (name.endsWith('settings.json')) expect(content).not.toStartWith('folder')
    const tokens = CLIENTS.map((name) =>
      readFileSync(join(home.path, '.local/share/mail4agent/tokens', name), 'utf8').trim(),
    )
    for (const content of after.values())
      for (const token of tokens)
        expect(Buffer.from(content.split(' ').at(-1) ?? '', 'base64').toString()).not.toContain(token)

    const second = await up()
    expect(second).toMatchObject({ daemon: 'runs already', made: [], letters: [] })
    expect(second.clients.flatMap(({ written }: { written: string[] }) => written)).toEqual([])
    expect(home.snapshot()).toEqual(after)

    const down = await home.m4a('down', '--yes')
    expect(down).toMatchObject({ code: 0 })
    expect(down.out).toContain('the mailbox: stopped')
    expect(home.snapshot()).toEqual(before)
    expect((await home.m4a('status')).code).toBe(3)
  },
  TURN,
)

describe('after up', () => {
  beforeAll(async () => {
    await up()
  }, TURN)

  test.each(CLIENTS)(
    '%s finds its mailbox through its own configuration',
    async (client) => {
      const agent = agents.get(client)
      if (!agent) throw new Error('not prepared')
      const running = home.start(agent)
      const me = await tools(running).whoami()
      expect(me).toMatchObject({ account: client, unread: 1, label: expect.any(String) })
      const attested = me.card?.attested
      expect(attested?.exe).toBe(exeOf(attested?.pid ?? 0))
      expect(isBelow(attested?.pid ?? 0, running.pid)).toBe(true)
      const { messages } = await tools(running).inbox()
      expect(messages).toMatchObject([{ from_text: expect.stringMatching(/^pat\//), subject: 'Your mailbox works' }])
      await tools(running).ack(messages[0]?.message_id ?? '')
      expect(await running.finish()).toBe(0)
    },
    TURN,
  )

  test(
    'down takes our entries out of what the clients rewrote, and leaves theirs',
    async () => {
      const read = (name: string) => readFileSync(join(home.path, name), 'utf8')
      const theirs = JSON.parse(read('.claude.json'))
      expect(theirs.mcpServers.mail4agent).toBeDefined()
      delete theirs.mcpServers.mail4agent
      expect((await home.m4a('down', '--yes')).code).toBe(0)
      expect(JSON.parse(read('.claude.json'))).toEqual(theirs)
      const files = ['.claude.json', '.codex/config.toml', '.config/opencode/opencode.json', '.gemini/settings.json']
      for (const name of [...files, '.qwen/settings.json']) {
        expect(read(name)).not.toContain('mail4agent')
        expect(read(name)).toContain('/bin/false')
      }
    },
    TURN,
  )
})
