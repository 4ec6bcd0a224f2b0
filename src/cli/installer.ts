// What up, down and client share: the machine, our own program, the record of what was written, and the question to the person.
import { existsSync } from 'node:fs'
import { CLIENT_NAMES, type ClientName } from '../install/client.ts'
import { type Machine, ourProgram, type Us } from '../install/machine.ts'
import { Installation } from '../install/record.ts'
import type { Context } from './context.ts'
import type { Io } from './io.ts'
import { type Place, placeOf } from './place.ts'
import { nearest, usage } from './usage.ts'

export type Installer = { machine: Machine; us: Us; record: Installation }

/** @throws Refusal `damaged_store` for a record that cannot be understood */
export function installerFor(context: Context): Installer {
  return { ...machineFor(context), record: new Installation(context.place.dataDir) }
}

export function machineFor({ io, place }: Context): Omit<Installer, 'record'> {
  const { env, home, platform } = io
  const machine: Machine = {
    env,
    home,
    platform,
    which: (program) => Bun.which(program, { PATH: env.PATH ?? '' }),
    exists: existsSync,
  }
  const us = { program: ourProgram(), place: isPlain(place, io) ? [] : ['--data-dir', place.dataDir] }
  return { machine, us }
}

/** Is the data where it is found without any variable? A client may start us with an environment that has next to none. */
function isPlain({ dataDir }: Place, io: Io): boolean {
  const env = { LOCALAPPDATA: io.env.LOCALAPPDATA }
  return placeOf({ 'data-dir': undefined, port: undefined, socket: undefined }, { ...io, env }).dataDir === dataDir
}

/** @throws Refusal `usage` with the nearest right name */
export function clientName(word: string): ClientName {
  const name = CLIENT_NAMES.find((one) => one === word.toLowerCase())
  if (name !== undefined) return name
  const meant = nearest(word, CLIENT_NAMES)
  throw usage(
    `no agent client ${JSON.stringify(word.slice(0, 100))}`,
    meant ? `did you mean: ${meant}` : `one of ${CLIENT_NAMES.join(', ')}`,
  )
}

/** `--only a,b`, repeatable; null: not given. */
export function onlyNames(given: readonly string[]): ClientName[] | null {
  if (given.length === 0) return null
  const words = given.flatMap((list) => list.split(',')).map((word) => word.trim())
  return [...new Set(words.filter((word) => word !== '').map(clientName))]
}

/**
 * Asks the person at the terminal. `yes` answers for them; `danger`: a key pressed too fast means no.
 * @throws Refusal `usage` where nobody can be asked
 */
export async function agreed(context: Context, yes: boolean, question: string, danger = false): Promise<boolean> {
  if (yes) return true
  const { io } = context
  if (context.json || !io.errIsTerminal || io.outColumns === null || !process.stdin.isTTY)
    throw usage('nobody is there to be asked', 'say --yes, or look at it first with --dry-run')
  const { confirm, isCancel } = await import('@clack/prompts')
  const answer = await confirm({ message: question, initialValue: !danger })
  return !isCancel(answer) && answer
}
