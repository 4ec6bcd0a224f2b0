// How a person calls us on the same data folder: for the commands that a text tells them to type.
import { resolve } from 'node:path'
import type { Context } from './context.ts'

/** From another terminal: whatever its current folder, and without our environment. */
export function callFrom({ io, place, options }: Context): string {
  const program = /[/\\]/.test(io.program) ? resolve(io.cwd, io.program) : io.program
  const isNamed = Boolean(options['data-dir'] || io.env.M4A_DATA_DIR)
  const words = isNamed ? [program, '--data-dir', place.dataDir] : [program]
  return words.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(' ')
}
