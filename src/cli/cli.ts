// The command line: argv → one command → exit code. Data goes to stdout, talk to stderr.
//
// 0 ok, 1 refused, 2 usage, 3 no mailbox, 4 the time of a wait is over.
import { Refusal } from '../wire/refusal.ts'
import { choose } from './choose.ts'
import type { Command, Global, Values } from './command.ts'
import { COMMAND_NAMES, loadCommand } from './commands.ts'
import { Context } from './context.ts'
import { aboutGiven } from './given-path.ts'
import { CannotWrite, type Io, ReaderGone, Stopped } from './io.ts'
import { withOperator } from './operators.ts'
import { paintFor } from './paint.ts'
import { checkWords, parseFor } from './parse.ts'
import { asRefusal, forPerson, refusalText, withToken } from './refused.ts'

/**
 * Runs the command that `argv` names (without the program itself). Never throws.
 * @returns the exit code
 */
export async function runCommand(argv: readonly string[], io: Io): Promise<number> {
  let command: Command | null = null
  try {
    const { name, rest, wish } = choose(argv, COMMAND_NAMES)
    if (wish === 'version') return await run(await loadCommand('version'), [], io)
    if (name === null) return await overview(rest, wish === 'help', io)
    command = await loadCommand(name)
    return await run(command, rest, io)
  } catch (error) {
    // Nobody reads any more, as in `mail4agent inbox | head -1`: that is no failure, and nobody is left to tell.
    if (error instanceof ReaderGone) return 0
    // What a shell reports for a program that a signal ended: 128 and its number.
    if (error instanceof Stopped) return error.signal === 'SIGINT' ? 130 : 143
    if (error instanceof CannotWrite) {
      tell(io, `${error.message}\n`) // the mailbox refused nothing, and it is no fault of ours
      return 1
    }
    const refusal = forPerson(aboutGiven(error, argv, io.cwd) ?? asRefusal(error), command?.name ?? null)
    const beforeWords = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length)
    const asJson = beforeWords.includes('--json')
    const paint = paintFor(io, io.errIsTerminal, beforeWords.includes('--no-color'))
    tell(io, asJson ? `${JSON.stringify(refusal)}\n` : refusalText(refusal, io.now(), paint))
    return refusal.exit
  }
}

/** Where standard error cannot be written either, the exit code has to do. */
function tell(io: Io, text: string): void {
  try {
    io.err(text)
  } catch (error) {
    if (!(error instanceof ReaderGone || error instanceof CannotWrite)) throw error
  }
}

async function run(command: Command, rest: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFor(command, rest)
  if (values.help === true) return run(await loadCommand('help'), command.name.split(' '), io)
  checkWords(command, words)
  // `parseFor` has given each option the form that its declaration asks for; that is what Values says.
  const context = new Context(values as Values<Global>, words, io)
  try {
    return await command.run(context)
  } catch (error) {
    if (!(error instanceof Refusal) || context.token === null) throw error
    throw await withOperator(withToken(error, context.token), context.token, context.place)
  }
}

/** Without a command: the list. It is an answer when it was asked for, else a usage error. */
async function overview(rest: readonly string[], asked: boolean, io: Io): Promise<number> {
  const help = await loadCommand('help')
  parseFor(help, rest)
  const how = rest.filter((word) => word !== '--help' && word !== '-h')
  if (asked) return run(help, how, io)
  await run(help, how, { ...io, out: io.err })
  return 2
}
