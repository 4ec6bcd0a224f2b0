// Hooks as the model of a real client sees them: told of mail once, in the first turn or at the end of one, and else of nothing.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { list, strings, text } from '../support/json.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { type Agent, household, type Running } from './agent.ts'
import { type Home, makeHome } from './home.ts'
import type { AnyClient } from './install.ts'
import { tools } from './mail.ts'
import { commandOf } from './proc.ts'

const CLIENTS: AnyClient[] = ['claude', 'codex', 'opencode', 'gemini', 'qwen']
/** Those that go on after a turn when a hook asks them to. */
const GO_ON: AnyClient[] = ['claude', 'codex', 'gemini', 'qwen']
/** Installing clients and starting them cold, in milliseconds. */
const START = 600_000
const TURN = 120_000
/** Milliseconds that a hook may take beside the start of a process, which other work on this machine may slow down. */
const BUDGET = 100

let model: ScriptedModel
let home: Home

beforeAll(() => {
  model = startScriptedModel()
})
afterAll(async () => model?.close())

/** Codex's user has approved hooks: a hook of the test's own makes its recipe say so. */
const start = async (client: AnyClient): Promise<Running> => {
  const agent = await home.prepare(client, client === 'codex' ? { hook: 'true' } : {})
  expect(await home.m4a('up', '--yes', '--no-service', '--only', client)).toMatchObject({ code: 0 })
  return home.start(agent)
}

const LINE = 'mail4agent: you have '

/** How often the newest request of the client shows its model a notice, and what it says. */
function notices({ script }: Agent): string[] {
  const body = script.log.at(-1)?.body
  return strings(body).flatMap((text) =>
    text
      .split(LINE)
      .slice(1)
      .map((rest) => LINE + (rest.split('\n')[0] ?? '')),
  )
}

describe.each(CLIENTS)('%s', (client) => {
  beforeEach(async () => {
    home = await makeHome([client], model)
  }, START)
  afterEach(() => home.close(), TURN)

  test(
    'is told once, in its first turn, of mail that had come before',
    async () => {
      const agent = await start(client)
      await agent.toolText('m4a_mail_whoami')
      await agent.toolText('m4a_mail_whoami')
      const [notice, ...others] = notices(agent)
      expect(notice).toStartWith(`${LINE}1 new letter (1 from pat (a person)), 1 unread in all. `)
      expect(notice).toContain('m4a_mail_inbox')
      expect(others).toEqual([])
      // its hooks and its tools act in one session
      const peers = await agent.tool('m4a_mail_peers')
      const mine = list(peers, 'participants').find((one) => text(one, 'id') === client)
      expect(list(mine, 'sessions')).toHaveLength(1)
      expect(await agent.finish()).toBe(0)
    },
    TURN,
  )

  test(
    'without mail it is told nothing; mail that comes meanwhile is told at the end of the turn, where the client goes on',
    async () => {
      const first = await start(client)
      const [letter] = (await tools(first).inbox()).messages
      await tools(first).ack(letter?.message_id ?? '')
      expect(await first.finish()).toBe(0)

      const agent = await start(client)
      await tools(agent).whoami()
      expect(notices(agent)).toEqual([])
      expect((await home.m4a('send', client, 'a question', 'what is it?', '--as', 'pat')).code).toBe(0)
      await agent.say('done')
      if (GO_ON.includes(client)) {
        await agent.toolText('m4a_mail_whoami')
        expect(notices(agent)).toEqual([expect.stringContaining('1 new letter (1 from pat (a person))')])
        expect(JSON.stringify(agent.script.log.at(-1)?.body)).not.toContain('what is it?')
        expect(await agent.finish()).toBe(0)
      } else {
        await expect(agent.finish()).rejects.toThrow(`${client} ended with 0`)
      }
    },
    TURN,
  )

  test(
    'its hook answers in time, never fails, and is silent for another client',
    async () => {
      const agent = await start(client)
      await agent.toolText('m4a_mail_whoami')
      const event = client === 'gemini' ? 'BeforeAgent' : 'UserPromptSubmit'
      const run = (name: string, more = '') => `${home.binary} hook ${name} ${event} ${more} </dev/null; echo exit=$?`
      const others = CLIENTS.filter((name) => name !== client)
        .map((name) => run(name))
        .join('; ')
      expect(shown(await agent.shell(others))).toBe('exit=0 exit=0 exit=0 exit=0')
      const odd = [
        run(client, '--socket /nowhere/m4a.sock'),
        run('nobody'),
        `echo '{' | ${home.binary} hook ${client}; echo exit=$?`,
      ]
      expect(shown(await agent.shell(odd.join('; ')))).toBe('exit=0 exit=0 exit=0')
      // in a file: not every client's shell tool takes what it would need on a command line
      const clock = 'date +%s%N'
      const timed = (mark: string, command: string) =>
        `a=$(${clock}); ${command} >/dev/null; b=$(${clock}); echo ${mark}=$(( (b - a) / 1000 ))`
      const each = [timed('hook', run(client)), timed('bare', `${home.binary} version`)].join('; ')
      writeFileSync(join(home.path, 'times.sh'), `for i in 1 2 3 4 5 6 7 8; do ${each}; done`)
      let output = ''
      const least = (mark: string) =>
        Math.min(...[...output.matchAll(RegExp(`${mark}=(\\d+)`, 'g'))].map(([, micro]) => Number(micro) / 1_000))
      // on a busy machine none of eight may have had a processor to itself
      for (let round = 0; round === 0 || (round < 5 && least('hook') - least('bare') >= BUDGET); round++)
        output += await agent.shell(`sh ${join(home.path, 'times.sh')}`)
      expect(least('bare')).toBeGreaterThan(0)
      expect(least('hook') - least('bare')).toBeLessThan(BUDGET)
      expect(await agent.finish()).toBe(0)
    },
    TURN,
  )
})

test(
  'claude -p ends as fast as without us, and leaves nothing running',
  async () => {
    home = await makeHome(['claude'], model)
    const ends = async (agent: Running) => {
      await agent.toolText('Bash', { command: 'true', description: 'the script says so' })
      await agent.say('done')
      const from = performance.now()
      // the turn was ended: what is left is to exit
      await agent.finish().catch(() => {})
      return performance.now() - from
    }
    const without = await ends(home.start(await home.prepare('claude')))
    const withUs = await ends(await start('claude'))
    expect(withUs).toBeLessThan(without + 1_000)
    expect(
      household(home.path)
        .map(commandOf)
        .filter((words) => !words.includes(' serve ')),
    ).toEqual([])
    await home.close()
  },
  START,
)

/** What commands printed, without what the client puts around it. */
const shown = (output: string): string =>
  output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /exit=|mail4agent|refused/.test(line) && !line.startsWith('Command:'))
    .map((line) => line.replace(/^Output: ?/, ''))
    .join(' ')
