// Which command a command line means, and what is left for it.
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
    const below = names.filter((name) => name.startsWith(`${said.join(' ')} `))
    if (below.length > 0 && said.length > 1) {
      const part = said.join(' ')
      const words = below.map((name) => name.slice(part.length + 1))
      throw usage(
        `${part} needs to know what to do`,
        `mail4agent ${part} ${words.join(' | ')}; see: mail4agent help ${part}`,
      )
    }
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
