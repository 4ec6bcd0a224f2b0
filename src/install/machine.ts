// What the installer may know of the machine it works on, and how our own program is called from a client's configuration.

export type Machine = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string
  readonly platform: NodeJS.Platform
  /** The path of a program on the PATH, or null. */
  readonly which: (program: string) => string | null
  readonly exists: (path: string) => boolean
}

/** Our program, by absolute path: a client's PATH is not the PATH of the shell that set it up. */
export type Us = {
  /** The words in front of a command. */
  readonly program: readonly string[]
  /** `--data-dir DIR`, where it is not what every process of this user finds by itself. */
  readonly place: readonly string[]
}

/** The name of our entry in every client's configuration; its tools are `mcp__mail4agent__…` and the like. */
export const SERVER = 'mail4agent'

/** The bridge, as the words of a command line: no token is among them. */
export const bridgeWords = ({ program, place }: Us, account: string): [string, ...string[]] => {
  const [first = '', ...more] = program
  return [first, ...more, 'mcp', '--as', account, ...place]
}

/** The hook. The line stays the same from one version to the next: Codex asks its user again when it changes. */
export const hookWords = ({ program, place }: Us, client: string, event?: string): string[] => [
  ...program,
  'hook',
  client,
  ...(event === undefined ? [] : [event]),
  ...place,
]

/** Words as one line for the shell that a client runs hooks with: sh, or on Windows one that takes double quotes. */
export function shellLine(words: readonly string[], platform: NodeJS.Platform): string {
  const plain = /^[A-Za-z0-9_@%+=:,./-]+$/
  const quote = (word: string) =>
    platform === 'win32' ? `"${word.replaceAll('"', '""')}"` : `'${word.replaceAll("'", "'\\''")}'`
  return words.map((word) => (plain.test(word) ? word : quote(word))).join(' ')
}

/** The same for a word and for the word as `shellLine` quotes it, where it holds quotes itself too. */
const unquoted = (text: string): string => text.replaceAll("'\\''", '').replaceAll(/["']/g, '')

/** Is `line` a hook of ours for `client`? Also one that an earlier version wrote, or one at another path. */
export function isOurHook(line: string, client: string, us: Us): boolean {
  const words = unquoted(line)
  const ours =
    words.startsWith(`${unquoted(us.program.join(' '))} hook `) || /(^|[\\/])mail4agent(\.exe)? hook /.test(words)
  return ours && words.includes(` hook ${client}`)
}

/** Is a command with these words our bridge? */
export function isOurBridge(words: readonly string[], us: Us): boolean {
  const program = words[0] ?? ''
  const known = /(^|[\\/])mail4agent(\.exe)?$/.test(program) || us.program.every((word, at) => words[at] === word)
  return known && words.includes('mcp')
}

/** The words that start this very program again: the binary alone, or from source the runtime and our main file. */
export function ourProgram(): string[] {
  const isBinary = /\$bunfs|~BUN/.test(Bun.main)
  return isBinary ? [process.execPath] : [process.execPath, Bun.main]
}
