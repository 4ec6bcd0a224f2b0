// Text from mail made safe to look at: nothing in it can move the cursor, reorder the line or pass for a line of ours.

/**
 * Control characters, and format characters that nobody sees (bidirectional controls, zero-width ones, the tag block):
 * a letter could hide or reorder words with them. The two joiners stay, scripts and emoji need them.
 */
const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

const hex = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`
}

/** One line: what cannot be seen is written as `\u001b`. */
export const escapeLine = (text: string): string => text.replaceAll(UNSEEN, hex)

/** A body: each of its lines behind a bar, so that it cannot look like a header or like the next letter. Tabs stay. */
export function quoteBody(body: string): string[] {
  return body.split(/\r\n|[\n\r]/).map((line) => `| ${line.split('\t').map(escapeLine).join('\t')}`.trimEnd())
}

/** A whole text for a terminal, line breaks and tabs kept. */
export const escapeText = (text: string): string =>
  text.replaceAll(UNSEEN, (found) => (/[\n\t]/.test(found) ? found : hex(found)))

/** JSON text for a terminal: the same value, with what cannot be seen as `\u` escapes (RFC 8259 §7). */
export function escapeJson(json: string): string {
  const units = (found: string) =>
    [...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')
  return json.replaceAll(UNSEEN, (found) => (found === '\n' ? found : units(found)))
}
