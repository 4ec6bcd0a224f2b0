// A Windows command line, which is one text, as the argument vector that the C runtime makes of it.

const isSpace = (character: string | undefined): boolean => character === ' ' || character === '\t'

/**
 * "Parsing C command-line arguments" of the Microsoft C reference: in the program's name quotes only group; after it a
 * backslash escapes a quote, a run of backslashes counts only in front of one, and `""` in a quoted part is a quote.
 */
export function splitCommandLine(text: string): string[] {
  const found: string[] = []
  let at = 0
  let word = ''
  for (let quoted = false; at < text.length && (quoted || !isSpace(text[at])); at++) {
    if (text[at] === '"') quoted = !quoted
    else word += text[at]
  }
  if (text !== '') found.push(word)
  for (;;) {
    while (isSpace(text[at])) at++
    if (at >= text.length) return found
    word = ''
    for (let quoted = false; at < text.length && (quoted || !isSpace(text[at])); ) {
      let slashes = 0
      while (text[at + slashes] === '\\') slashes++
      at += slashes
      if (text[at] !== '"') {
        word += '\\'.repeat(slashes)
        if (slashes === 0) word += text[at++] ?? ''
        continue
      }
      word += '\\'.repeat(Math.floor(slashes / 2))
      at++
      if (slashes % 2 === 1) word += '"'
      else if (quoted && text[at] === '"') {
        word += '"'
        at++
      } else quoted = !quoted
    }
    found.push(word)
  }
}
