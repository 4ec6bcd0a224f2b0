// What a process runs: the name of its executable, and the script where that is an interpreter. Pure, from /proc facts.
import type { Process } from '../attest/attestor.ts'

type Facts = Pick<Process, 'exe' | 'argv' | 'comm'>

/** The last part of a path, without the mark of a file replaced while it runs and without `.exe`; lower case. */
export function programName(path: string): string {
  const plain = path.replace(/ \(deleted\)$/, '')
  return plain
    .slice(Math.max(plain.lastIndexOf('/'), plain.lastIndexOf('\\')) + 1)
    .replace(/\.exe$/i, '')
    .toLowerCase()
}

const INTERPRETER = /^(?:node|nodejs|bun|deno|tsx|python[0-9.]*)$/

/** Options that take the next argument: node(1), bun, python(1). */
const TAKES_VALUE = new Set(['-r', '--require', '--import', '--loader', '--experimental-loader', '-C', '--conditions'])
const PYTHON_TAKES_VALUE = new Set(['-W', '-X'])
/** Options after which there is no script file: the program is in the option itself, or a module by name. */
const NO_SCRIPT = new Set(['-e', '--eval', '-p', '--print', '-c', '-m', '--check'])

/** The script that an interpreter was started with, as it stands in the argument vector; null where it is none. */
export function scriptOf({ exe, argv }: Facts): string | null {
  const name = programName(exe ?? argv[0] ?? '')
  if (!INTERPRETER.test(name)) return null
  const valued = name.startsWith('python') ? PYTHON_TAKES_VALUE : TAKES_VALUE
  for (let at = 1; at < argv.length; at++) {
    const word = argv[at] ?? ''
    if (word === '--') return argv[at + 1] ?? null
    if (NO_SCRIPT.has(word)) return null
    if (valued.has(word)) at++
    else if (!word.startsWith('-') && !isRunCommand(name, word, at)) return word === '' ? null : word
  }
  return null
}

/** `bun run FILE`, `deno run FILE`: the first word is not the script. */
const isRunCommand = (name: string, word: string, at: number): boolean =>
  at === 1 && word === 'run' && (name === 'bun' || name === 'deno')

/** A script's own name: the last part of its path without a script suffix, lower case. */
export const scriptName = (path: string): string => programName(path).replace(/\.(?:js|mjs|cjs|ts|py)$/, '')

/** A Windows path with slashes; any other as it is, because elsewhere a backslash is a letter like others. */
export const slashed = (path: string): string => (/^(?:[a-z]:|\\)\\/i.test(path) ? path.replaceAll('\\', '/') : path)

/** Does the path lie in that npm package, by whole path segments? */
export const inPackage = (path: string, name: string): boolean => slashed(path).includes(`/node_modules/${name}/`)
