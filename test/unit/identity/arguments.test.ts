// What a command line says of model and session: each client's own forms, and what a prompt cannot forge.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { readArguments } from '../../../src/identity/arguments.ts'
import { CLIENTS } from '../../../src/identity/clients.ts'
import { started } from './processes.ts'

const ID = '0138bc59-1c29-4df8-a696-aff83a101eb2'
const read = (client: string, ...argv: string[]) => {
  const known = CLIENTS.get(client)
  if (!known) throw new Error(`no client ${client}`)
  return readArguments(known, started(`/opt/${client}`, ...argv))
}

test.each<[string, string[], string | null, string | null]>([
  ['claude', [], null, null],
  ['claude', ['--model', 'opus', '--resume', ID], 'opus', ID],
  ['claude', ['--model=opus', `--resume=${ID}`], 'opus', ID],
  ['claude', ['-r', ID, 'go on', '--model', 'claude-opus-5[1m]'], 'claude-opus-5[1m]', ID],
  ['claude', ['--session-id', ID], null, ID],
  ['claude', ['--model', 'a', '--model', 'b'], 'b', null],
  ['claude', ['--resume', ID, '--fork-session'], null, null],
  ['claude', ['--resume'], null, null],
  ['claude', ['--resume', '--model', 'opus'], 'opus', null],
  ['claude', ['--resume', 'fix the build'], null, null],
  ['claude', ['-p', `do it --model x --resume=${ID}`], null, null],
  ['claude', ['--append-system-prompt', '--model', 'x'], null, null],
  ['claude', ['--append-system-prompt', `--resume=${ID}`], null, null],
  ['claude', ['--', '--model', 'x', '--resume', ID], null, null],
  ['claude', ['--model'], null, null],
  ['claude', ['--model', '--resume', ID], null, null],
  ['claude', ['--model', 'two words'], null, null],
  ['codex', ['resume', ID], null, ID],
  ['codex', ['-m', 'gpt-x', 'resume', '-C', '/srv', ID], 'gpt-x', ID],
  ['codex', ['exec', '--model', 'gpt-x', 'resume', ID, 'go on'], 'gpt-x', ID],
  ['codex', ['exec', `resume ${ID}`], null, null],
  ['codex', ['exec', 'please', 'resume', ID], null, null],
  ['codex', ['-c', 'resume', 'resume', ID], null, ID],
  ['codex', ['fork', ID], null, null],
  ['opencode', ['-s', 'ses_4fd2c1a0ffe1', '-m', 'anthropic/claude-x'], 'anthropic/claude-x', 'ses_4fd2c1a0ffe1'],
  ['opencode', ['run', '--session=ses_4fd2c1a0ffe1', '--fork'], null, null],
  ['gemini', ['--resume', 'latest', '-m', 'gemini-x'], 'gemini-x', null],
  ['gemini', ['--resume', ID, '-p', '-m'], null, ID],
  ['copilot', [`--resume=${ID}`, '--model', 'm1'], 'm1', ID],
  ['copilot', ['-sp', '--model=evil'], null, null],
  ['copilot', ['--session-id', ID, '-C', '--model', 'x'], null, ID],
  ['grok', ['-m', 'grok-5', '-s', ID, '--rules', '--model=evil'], 'grok-5', ID],
  ['grok', ['--resume', ID, '--fork-session'], null, null],
  ['grok', ['-mgrok-5', '-p', '--model=evil'], 'grok-5', null],
  ['codex', ['-i', 'a.png', 'resume', ID], null, null],
  ['codex', ['exec', '-i', 'a.png', '-mgpt-x', 'go on'], 'gpt-x', null],
  ['qwen', ['--resume', ID, '--fork-session'], null, null],
  ['kimi', ['-S', 'session_0138bc59', '-m', 'k2'], 'k2', 'session_0138bc59'],
])('%s %j', (client, argv, model, session) => {
  expect(read(client, ...argv)).toEqual({ model, session })
})

test('a script is looked for behind its interpreter', () => {
  const gemini = CLIENTS.get('gemini')
  if (!gemini) throw new Error('it is known')
  const seen = started('/usr/bin/node', '--no-warnings', '/usr/bin/gemini', '-m', 'x1', '--resume', ID)
  expect(readArguments(gemini, seen)).toEqual({ model: 'x1', session: ID })
})

const FLAGS = [
  '--model',
  '--model=evil',
  '-m',
  '-mevil',
  '-m=evil',
  '--resume',
  `--resume=${ID}`,
  '-r',
  `-r${ID}`,
  '-S',
]
const WORDS = fc.constantFrom(...FLAGS, `--session=${ID}`, 'resume', ID, 'evil', '--', ' ', '-')
/** What a person or another agent may have written: one word of the argument array, whatever stands in it. */
const PROMPT = fc.oneof(
  WORDS,
  fc.array(fc.oneof(WORDS, fc.string()), { minLength: 1, maxLength: 6 }).map((parts) => parts.join(' ')),
)

/** A switch that takes nothing, for clusters: no client has a capital Z. */
const SWITCH = 'Z'

/** Every way in which `client` takes one word of text that is no option. */
function carried(client: string) {
  const known = CLIENTS.get(client)
  if (!known) throw new Error(`no client ${client}`)
  const ways: fc.Arbitrary<string[]>[] = [PROMPT.map((text) => [`tell me: ${text}`])]
  if (known.valued.length > 0) {
    const option = fc.constantFrom(...known.valued)
    ways.push(fc.tuple(option, PROMPT).map(([name, text]) => [name, text]))
    const inline = ([name, text]: [string, string]) =>
      name.startsWith('--') ? [`${name}=${text}`] : [`-${SWITCH}${name.slice(1)}`, text]
    ways.push(fc.tuple(option, PROMPT).map(inline))
  }
  const item = fc.oneof(...ways, fc.constant(['--verbose']), fc.constant([`-${SWITCH}`]))
  const behind = fc.array(PROMPT, { maxLength: 3 }).map((texts) => ['--', ...texts])
  return fc
    .tuple(fc.array(item, { maxLength: 5 }), fc.option(behind, { nil: [] }))
    .map(([items, rest]) => [...items.flat(), ...rest])
}

test.each([...CLIENTS.keys()])(
  '%s: text in a prompt, in the value of an option or behind -- says nothing',
  (client) => {
    fc.assert(
      fc.property(carried(client), (argv) => {
        expect(read(client, ...argv)).toEqual({ model: null, session: null })
      }),
      { numRuns: 300 },
    )
  },
)

test.each([...CLIENTS.keys()])('%s: nor does it hide or change what its own options say', (client) => {
  const known = CLIENTS.get(client)
  const option = known?.model[0]
  if (option === undefined) return
  const own = fc.constantFrom([option, 'm1'], option.startsWith('--') ? [`${option}=m1`] : [option, 'm1'])
  fc.assert(
    fc.property(carried(client), own, (argv, model) => {
      expect(read(client, ...model, ...argv).model).toBe('m1')
    }),
    { numRuns: 100 },
  )
})
