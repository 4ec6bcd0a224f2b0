// Colour where a person looks at a terminal and has not said no.
import { styleText } from 'node:util'
import type { Io } from './io.ts'

export type Tone = 'dim' | 'bold' | 'red' | 'green' | 'yellow' | 'cyan'
export type Paint = (tone: Tone, text: string) => string

export const plain: Paint = (_, text) => text
const coloured: Paint = (tone, text) => (text === '' ? '' : styleText(tone, text, { validateStream: false }))

/** https://no-color.org: NO_COLOR counts when it is not empty. */
export function paintFor(io: Io, terminal: boolean, noColor: boolean): Paint {
  return terminal && !noColor && !io.env.NO_COLOR && io.env.TERM !== 'dumb' ? coloured : plain
}
