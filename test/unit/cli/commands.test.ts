// Every command teaches: its help is kept as text, and its declaration keeps the rules.
import { describe, expect, test } from 'bun:test'
import { GLOBAL } from '../../../src/cli/command.ts'
import { COMMAND_NAMES, loadAll, loadCommand } from '../../../src/cli/commands.ts'
import { NO_OBJECT, PRINTED } from '../../../src/cli/help-json-commands.ts'
import { prepareToken } from '../../../src/cli/token-files.ts'
import { tempFolder } from '../../support/temp.ts'
import { expectGolden } from './golden.ts'
import { sh } from './shell.ts'

const commands = await loadAll()

test('the list of commands', async () => expectGolden('help', (await sh(['help'])).out))
test('the list of what an operator does', async () => expectGolden('help-admin', (await sh(['help', 'admin'])).out))

test('each command has its line in `help json`, and each line a command', () => {
  const named = PRINTED.flatMap(([names]) => names.split(', '))
  expect([...named, ...NO_OBJECT].sort()).toEqual([...COMMAND_NAMES].sort())
})

describe.each(commands.map((command) => [command.name, command] as const))('%s', (name, command) => {
  test('help', async () => {
    const { code, out, err } = await sh(['help', ...name.split(' ')])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    await expectGolden(`help-${name.replaceAll(' ', '-')}`, out)
    expect((await sh([...name.split(' '), '--help'])).out).toBe(out)
  })

  test('its declaration', () => {
    expect(command.summary).toMatch(/^[^A-Z].*[^.]$/)
    expect(
      name === 'version' || command.help.includes(`mail4agent ${name}`) || command.help.includes(`completion `),
    ).toBe(true)
    for (const line of command.help.split('\n')) expect(line.length).toBeLessThanOrEqual(130)
    const all = { ...GLOBAL, ...command.options }
    expect(Object.keys(all)).toHaveLength(Object.keys(GLOBAL).length + Object.keys(command.options).length)
    const shorts = Object.values(all).flatMap((option) => ('short' in option ? [option.short] : []))
    expect(new Set(shorts).size).toBe(shorts.length)
  })

  test('a wrong option is usage', async () => {
    const { code, out, err } = await sh([...name.split(' '), '--nonsense'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toStartWith(`refused: no option "--nonsense" in ${name}\ntry: `)
  })
})

test('a topic is explained like a command', async () => {
  const { code, out, err } = await sh(['help', 'accounts'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toContain('.mail4agent')
  await expectGolden('help-accounts', out)
  expect(JSON.parse((await sh(['help', 'accounts', '--json'])).out)).toMatchObject({ name: 'accounts' })
  expect((await sh(['help', 'constructor'])).code).toBe(2)
})

test('the accounts that --as takes are listed for the shells', async () => {
  using folder = tempFolder()
  for (const name of ['codex', 'claude']) prepareToken(folder.path, name, 'secret').keep()
  expect(await sh(['completion', 'accounts', '--data-dir', folder.path])).toEqual({
    code: 0,
    out: 'claude\ncodex\n',
    err: '',
  })
})

test('close is ack, email is send', async () => {
  expect(await loadCommand('close')).toBe(await loadCommand('ack'))
  expect(await loadCommand('email')).toBe(await loadCommand('send'))
})

test('what --json prints', async () => expectGolden('help-json', (await sh(['help', 'json'])).out))

test('each shell has every command and option', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, out } = await sh(['completion', shell])
    expect(code).toBe(0)
    for (const word of COMMAND_NAMES.flatMap((name) => name.split(' '))) expect(out).toContain(word)
    for (const option of commands.flatMap((command) => Object.keys(command.options))) expect(out).toContain(option)
  }
  expect((await sh(['completion', 'csh'])).code).toBe(2)
})

test('without a command: the list, on stderr, as usage', async () => {
  expect(await sh([])).toMatchObject({ code: 2, out: '' })
  expect(await sh(['--help'])).toMatchObject({ code: 0, err: '' })
  expect((await sh(['--version'])).out).toMatch(/^mail4agent \d/)
})

test('help can be read by programs', async () => {
  const { out } = await sh(['help', 'send', '--json'])
  expect(JSON.parse(out)).toMatchObject({ name: 'send', usage: expect.stringContaining('mail4agent send') })
})
