// From argv to the command, its options and its words; what is wrong is named, with what was probably meant.
import { expect, test } from 'bun:test'
import { choose } from '../../../src/cli/choose.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import { checkWords, parseFor } from '../../../src/cli/parse.ts'
import { Refusal } from '../../../src/wire/refusal.ts'

const NAMES = ['send', 'status', 'status set', 'admin account add', 'admin account list', 'admin backup', 'help']
const command = defineCommand({
  name: 'send',
  summary: '',
  usage: '<to> <body>',
  help: '',
  options: {
    subject: { short: 's', value: 'TEXT', help: '' },
    close: { help: '' },
    ref: { value: 'REF', multiple: true, help: '' },
  },
  words: [1, 2],
  run: async () => 0,
})

test.each([
  [['send', 'a', 'b'], 'send', ['a', 'b']],
  [['--as', 'send', 'status'], 'status', ['--as', 'send']],
  [['--as=x', '--json', 'status', 'set', '--role', 'r'], 'status set', ['--as=x', '--json', '--role', 'r']],
  [['status', '--json'], 'status', ['--json']],
  [['admin', 'account', 'add', 'x'], 'admin account add', ['x']],
  [['admin', 'account', 'list', '--help'], 'admin account list', ['--help']],
  [['admin', '--help'], 'help', ['admin']],
  [[], null, []],
])('%p chooses %p', (argv, name, rest) => expect(choose(argv, NAMES)).toMatchObject({ name, rest }))

test.each([
  [['snd'], 'no command "snd"', 'did you mean: mail4agent send; the list: mail4agent help'],
  [['admin', 'acount', 'add'], 'no command "admin acount add"', 'did you mean: mail4agent admin account add'],
  [['admin'], 'admin needs to know what to do', 'see: mail4agent help admin'],
  [['--', 'send'], 'no command "--"', 'the list of commands: mail4agent help'],
])('%p is refused', (argv, message, hint) =>
  expect(refusal(() => choose(argv, NAMES))).toMatchObject({ message, hint, exit: 2 }),
)

test('options, repeated ones and words', () => {
  const { values, words } = parseFor(command, ['a', '-s', '-x', '--close', '--ref', 'r=1', '--ref=r=2', '--json', 'b'])
  expect(values).toMatchObject({
    subject: '-x',
    close: true,
    ref: ['r=1', 'r=2'],
    json: true,
    as: undefined,
    help: false,
  })
  expect(words).toEqual(['a', 'b'])
})

test('after -- everything is a word, and - is one anywhere', () => {
  expect(parseFor(command, ['a', '--', '--close']).words).toEqual(['a', '--close'])
  expect(parseFor(command, ['-', '--close']).words).toEqual(['-'])
})

test.each([
  [['--sbject', 'x'], 'no option "--sbject" in send', 'did you mean: --subject'],
  [['-x'], 'no option "-x" in send', 'mail4agent help send'],
  [['--constructor'], 'no option "--constructor" in send', 'mail4agent help send'],
  [['--subject'], '--subject needs a value: TEXT', 'mail4agent help send'],
  [['--close=yes'], '--close takes no value', 'mail4agent help send'],
  [['-s', 'a', '-s', 'b'], '-s is given twice', 'mail4agent help send'],
])('%p is refused', (rest, message, hint) => {
  const found = refusal(() => parseFor(command, rest))
  expect(found.message).toBe(message)
  expect(found.hint).toContain(hint)
})

test('the count of words is checked', () => {
  expect(() => checkWords(command, ['a'])).not.toThrow()
  expect(refusal(() => checkWords(command, []))).toMatchObject({
    message: 'send: <to> is missing',
    hint: 'usage: mail4agent send <to> <body>',
  })
  expect(refusal(() => checkWords(command, ['a', 'b', 'c'])).message).toBe('send: "c" is one word too many')
})

function refusal(attempt: () => unknown): Refusal {
  try {
    attempt()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error('nothing was refused')
}
