// The options and words of a command line, as the command has declared them.
import { parseArgs } from 'node:util'
import { type Command, GLOBAL, type Option, type Options } from './command.ts'
import { nearest, usage } from './usage.ts'

export type Parsed = { values: Record<string, string | boolean | string[] | undefined>; words: string[] }

/**
 * Reads options and words of `command`. After `--` every word is a word.
 * @throws Refusal `usage` that names the option and the nearest right one
 */
export function parseFor(command: Command, rest: readonly string[]): Parsed {
  const known: Options = { ...GLOBAL, ...command.options }
  const shape = Object.fromEntries(Object.entries(known).map(([name, option]) => [name, shapeOf(option)]))
  // Not strict: its messages are made for programmers. The tokens tell what was written, so that we can say it better.
  const parsed = parseArgs({ args: [...rest], options: shape, strict: false, allowPositionals: true, tokens: true })
  const values: Parsed['values'] = {}
  for (const [name, { value, multiple }] of Object.entries(known))
    values[name] = multiple ? [] : value === undefined ? false : undefined
  for (const token of parsed.tokens) if (token.kind === 'option') take(command, known, values, token)
  return { values, words: parsed.positionals }
}

const shapeOf = ({ value, short, multiple }: Option) => ({
  type: value === undefined ? ('boolean' as const) : ('string' as const),
  ...(short === undefined ? {} : { short }),
  ...(multiple === undefined ? {} : { multiple }),
})

type Token = { name: string; rawName: string; value?: string | undefined }

function take(command: Command, known: Options, values: Parsed['values'], { name, rawName, value }: Token): void {
  const help = `see: mail4agent help ${command.name}`
  const option = Object.hasOwn(known, name) ? known[name] : undefined
  if (option === undefined) {
    const meant = nearest(name, Object.keys(known))
    throw usage(
      `no option ${JSON.stringify(rawName.slice(0, 100))} in ${command.name}`,
      `${meant ? `did you mean: --${meant}` : help}; words that look like options go after --`,
    )
  }
  if (option.value === undefined) {
    if (value !== undefined) throw usage(`${rawName} takes no value`, help)
    values[name] = true
    return
  }
  if (value === undefined) throw usage(`${rawName} needs a value: ${option.value}`, help)
  const before = values[name]
  if (Array.isArray(before)) before.push(value)
  else if (before !== undefined) throw usage(`${rawName} is given twice`, help)
  else values[name] = value
}

/** The word that has to stand at `at`, as the usage names it. */
function missing({ usage }: Command, at: number): string {
  let needed = usage
  for (let last = ''; last !== needed; ) {
    last = needed
    needed = needed.replace(/\[[^[\]]*\]/g, '')
  }
  return needed.match(/<[^>]*>/g)?.[at] ?? 'a word'
}

/** @throws Refusal `usage` when too few or too many words follow the command */
export function checkWords(command: Command, words: readonly string[]): void {
  const [least, most] = command.words
  if (words.length >= least && words.length <= most) return
  const what =
    words.length < least
      ? `${missing(command, words.length)} is missing`
      : `${JSON.stringify((words[most] ?? '').slice(0, 100))} is one word too many`
  throw usage(`${command.name}: ${what}`, `usage: mail4agent ${command.name} ${command.usage}`.trimEnd())
}
