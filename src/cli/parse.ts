// The command line in its parts: which command, its options, its words.
import { parseArgs } from 'node:util'
import type { Command, Options } from './command.ts'
import { GLOBAL } from './command.ts'
import { nearest, usage } from './usage.ts'

/** The name at the front of a command line, and what is left for the command: options before the name count as its own. */
export type Chosen = { name: string | null; rest: string[]; wish: 'help' | 'version' | null }

/**
 * Finds the command: the longest run of words that is one of `names`.
 * @throws Refusal `usage` when the words name none
 */
export function choose(argv: readonly string[], names: readonly string[]): Chosen {
  let at = 0
  for (; at < argv.length; at++) {
    const word = argv[at] ?? ''
    if (word === '--version' || word === '-V') return { name: null, rest: [], wish: 'version' }
    if (!word.startsWith('-') || word === '-' || word === '--') break
    const option = Object.entries(GLOBAL).find(([name]) => `--${name}` === word)?.[1]
    if (option && 'value' in option) at++
  }
  const before = argv.slice(0, at)
  const words = argv.slice(at, at + 3)
  const wish = before.some((word) => word === '--help' || word === '-h') ? 'help' : null
  for (let count = words.length; count > 0; count--) {
    const name = words.slice(0, count).join(' ')
    if (names.includes(name)) return { name, rest: [...before, ...argv.slice(at + count)], wish }
  }
  if (words.length === 0) return { name: null, rest: before, wish }
  return unknownCommand(words, argv.slice(at), names)
}

function unknownCommand(words: string[], all: readonly string[], names: readonly string[]): Chosen {
  const [first = '', second] = words
  const group = names.filter((name) => name.startsWith(`${first} `))
  if (group.length > 0) {
    const said = all.filter((word) => !word.startsWith('-'))
    if (all.some((word) => word === '--help' || word === '-h'))
      return {
        name: 'help',
        rest: said.filter((word) => group.some((name) => name.split(' ').includes(word))),
        wish: null,
      }
    const meant = second === undefined ? null : nearest(said.join(' '), group)
    const what =
      second === undefined ? `${first} needs to know what to do` : `no command ${JSON.stringify(said.join(' '))}`
    throw usage(what, meant ? `did you mean: mail4agent ${meant}` : `see: mail4agent help ${first}`)
  }
  const meant = nearest(first, [...new Set(names.map((name) => name.split(' ')[0] ?? name))])
  throw usage(
    `no command ${JSON.stringify(first.slice(0, 100))}`,
    meant ? `did you mean: mail4agent ${meant}; the list: mail4agent help` : 'the list of commands: mail4agent help',
  )
}

export type Parsed = { values: Record<string, string | boolean | string[] | undefined>; words: string[] }

/**
 * Reads options and words of `command`. After `--` every word is a word.
 * @throws Refusal `usage` that names the option and the nearest right one
 */
export function parseFor(command: Command, rest: readonly string[]): Parsed {
  const known: Options = { ...GLOBAL, ...command.options }
  const shape = Object.fromEntries(
    Object.entries(known).map(([name, { value, short, multiple }]) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        ...(short === undefined ? {} : { short }),
        ...(multiple === undefined ? {} : { multiple }),
      },
    ]),
  )
  const parsed = parseArgs({ args: [...rest], options: shape, strict: false, allowPositionals: true, tokens: true })
  const values: Parsed['values'] = {}
  for (const [name, { value, multiple }] of Object.entries(known))
    values[name] = multiple ? [] : value === undefined ? false : undefined
  const help = `see: mail4agent help ${command.name}`
  for (const token of parsed.tokens) {
    if (token.kind !== 'option') continue
    const option = Object.hasOwn(known, token.name) ? known[token.name] : undefined
    if (option === undefined) {
      const meant = nearest(token.name, Object.keys(known))
      throw usage(
        `no option ${JSON.stringify(token.rawName.slice(0, 100))} in ${command.name}`,
        meant
          ? `did you mean: --${meant}; words that look like options go after --`
          : `${help}; words that look like options go after --`,
      )
    }
    if (option.value === undefined) {
      if (token.value !== undefined) throw usage(`${token.rawName} takes no value`, help)
      values[token.name] = true
      continue
    }
    if (token.value === undefined) throw usage(`${token.rawName} needs a value: ${option.value}`, help)
    const list = values[token.name]
    if (Array.isArray(list)) list.push(token.value)
    else if (list !== undefined) throw usage(`${token.rawName} is given twice`, help)
    else values[token.name] = token.value
  }
  return { values, words: parsed.positionals }
}

/** @throws Refusal `usage` when too few or too many words follow the command */
export function checkWords(command: Command, words: readonly string[]): void {
  const [least, most] = command.words
  if (words.length >= least && words.length <= most) return
  const what =
    words.length < least
      ? 'something is missing'
      : `${JSON.stringify((words[most] ?? '').slice(0, 100))} is one word too many`
  throw usage(`${command.name}: ${what}`, `usage: mail4agent ${command.name} ${command.usage}`.trimEnd())
}
