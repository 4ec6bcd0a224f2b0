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
])('%s %j', (client, argv, model, session) => {
  expect(read(client, ...argv)).toEqual({ model, session })
})

test('a script is looked for behind its interpreter', () => {
  const gemini = CLIENTS.get('gemini')
  if (!gemini) throw new Error('it is known')
  const seen = started('/usr/bin/node', '--no-warnings', '/usr/bin/gemini', '-m', 'x1', '--resume', ID)
  expect(readArguments(gemini, seen)).toEqual({ model: 'x1', session: ID })
})

test('one argument of free text says nothing, whatever stands in it', () => {
  const flags = fc.constantFrom(
    '--model',
    '--model=x',
    '--resume',
    `--resume=${ID}`,
    '-r',
    '-m',
    'resume',
    ID,
    ' ',
    '--',
  )
  const prompt = fc.array(fc.oneof(flags, fc.string()), { minLength: 1 }).map((parts) => parts.join(' '))
  fc.assert(
    fc.property(fc.constantFrom('--append-system-prompt', '--system-prompt'), prompt, (option, text) => {
      expect(read('claude', option, text)).toEqual({ model: null, session: null })
    }),
  )
})
