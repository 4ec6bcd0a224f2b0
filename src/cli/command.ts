// What a command is: its name, its texts for people, its options, and what it does.
import type { Context } from './context.ts'

/** One option. `value` names what follows it in the help; an option without it is a switch. */
export type Option = { short?: string; value?: string; multiple?: true; help: string }
export type Options = Readonly<Record<string, Option>>

/** What the options of a command become: a switch is true or false, a value is text or absent, a repeated one a list. */
export type Values<O extends Options> = {
  readonly [N in keyof O]: O[N] extends { multiple: true }
    ? string[]
    : O[N] extends { value: string }
      ? string | undefined
      : boolean
}

export interface Command<O extends Options = Options> {
  /** As typed, in one or more words: `send`, `admin account add`. */
  name: string
  /** Other names for the same. */
  aliases?: readonly string[]
  /** One line, lower case, for the list of commands. */
  summary: string
  /** What follows the name: `[options] <to> <body>`. */
  usage: string
  /** Teaches: what it does, then examples. */
  help: string
  options: O
  /** How many words may follow, least and most. */
  words: readonly [least: number, most: number]
  /** Resolves to the exit code; throws Refusal. */
  run(context: Context<O>): Promise<number>
}

/** Keeps the exact type of the options, so that `context.options` knows their names. */
export const defineCommand = <const O extends Options>(command: Command<O>): Command<O> => command

/** Options that every command takes, before or after its name. */
export const GLOBAL = {
  'data-dir': { value: 'DIR', help: 'the data folder (M4A_DATA_DIR)' },
  port: { value: 'PORT', help: 'the TCP port of the mailbox (M4A_PORT, default 18301)' },
  socket: { value: 'PATH', help: 'the Unix socket of the mailbox (M4A_SOCKET)' },
  as: { value: 'ACCOUNT', help: 'whose token to use (M4A_ACCOUNT)' },
  json: { help: 'print the answer as JSON; a refusal goes to stderr as JSON' },
  'no-color': { help: 'no colour (NO_COLOR)' },
  help: { short: 'h', help: 'explain the command' },
} as const satisfies Options
export type Global = typeof GLOBAL
