// A configuration text that we do not touch: why, and in which line.

/** `reason` is lower case without a full stop. */
export class Damaged extends Error {
  constructor(
    readonly line: number,
    reason: string,
  ) {
    super(reason)
  }
}

/** Somebody else's entry has our name: it is not overwritten. */
export class Taken extends Error {}

/** The line in which `offset` lies, counted from 1. */
export const lineOf = (text: string, offset: number): number => text.slice(0, offset).split('\n').length

const BOM = '\uFEFF'

/** Text without the mark at its front, and what to put there again. */
export const withoutBom = (text: string): [mark: string, rest: string] =>
  text.startsWith(BOM) ? [BOM, text.slice(BOM.length)] : ['', text]

/** The line break of a text; of one without any, that of new files. */
export const eolOf = (text: string): '\r\n' | '\n' => (/\r\n/.test(text) ? '\r\n' : '\n')
