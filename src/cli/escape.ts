// Text from mail made safe to look at: nothing in it can move the cursor, reorder the line or pass for a line of ours.
import { escapeLine, UNSEEN } from '../wire/unseen.ts'

export { escapeLine, escapeText } from '../wire/unseen.ts'

/** A body: each of its lines behind a bar, so that it cannot look like a header or like the next letter. Tabs stay. */
export function quoteBody(body: string): string[] {
  return body.split(/\r\n|[\n\r]/).map((line) => `| ${line.split('\t').map(escapeLine).join('\t')}`.trimEnd())
}

/** JSON text for a terminal: the same value, with what cannot be seen as `\u` escapes (RFC 8259 §7). */
export function escapeJson(json: string): string {
  const units = (found: string) =>
    [...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')
  return json.replaceAll(UNSEEN, (found) => (found === '\n' ? found : units(found)))
}
