// Characters that nobody sees, written out: a letter could move a cursor, or hide and reorder words with them.

/**
 * Control characters, and format characters that nobody sees (bidirectional controls, zero-width ones, the tag block).
 * The two joiners stay, scripts and emoji need them.
 */
export const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** `\u001b`, `\u{e0041}`. */
export const unseenAs = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`
}

/** One line: what cannot be seen is written out. */
export const escapeLine = (text: string): string => text.replaceAll(UNSEEN, unseenAs)

/** A whole text, line breaks and tabs kept. */
export const escapeText = (text: string): string =>
  text.replaceAll(UNSEEN, (found) => (/[\n\t]/.test(found) ? found : unseenAs(found)))
