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

export type Piece = { text: string; unseen: boolean }

/** The same in pieces, so that what was made visible can be told from what was written. `kept` stay as they are. */
export function pieces(text: string, kept = ''): Piece[] {
  const found: Piece[] = []
  let from = 0
  for (const { 0: character, index } of text.matchAll(UNSEEN)) {
    if (kept.includes(character)) continue
    if (index > from) found.push({ text: text.slice(from, index), unseen: false })
    found.push({ text: unseenAs(character), unseen: true })
    from = index + character.length
  }
  if (from < text.length) found.push({ text: text.slice(from), unseen: false })
  return found
}
