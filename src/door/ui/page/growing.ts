// A list that is read a page at a time while letters come and go: its beginning is read anew, what was read further on is kept.
import type { Entry } from '../../../wire/overview.ts'
import type { Rows } from './entries.ts'

export const PAGE = 50
/** Rows that one answer may have. */
const MOST = 256

/** So many are read anew: as many as are shown, where one answer may have them. */
export const again = (shown: Rows | null): number =>
  Math.min(MOST, Math.max(PAGE, Math.ceil((shown?.letters.length ?? 0) / PAGE) * PAGE))

/** Ids ascend with the time of sending and have one length. */
const isBeyond = (letter: Entry, last: Entry, newestFirst: boolean): boolean =>
  newestFirst ? letter.message_id < last.message_id : letter.message_id > last.message_id

/**
 * `head`, just read, and behind it what was shown before beyond its end. Where so much has come that the two do not meet, there
 * would be a gap between them: then the list begins anew.
 */
export function renewed(shown: Rows | null, head: Rows, newestFirst: boolean): Rows {
  const last = head.letters.at(-1)
  if (!shown || !last || !head.more) return head
  const tail = shown.letters.filter((letter) => isBeyond(letter, last, newestFirst))
  if (tail.length === 0 || tail.length === shown.letters.length) return head
  // where what is new comes at the end, there may be something beyond what was the whole list
  return { letters: [...head.letters, ...tail], more: shown.more || !newestFirst, cursor: shown.cursor }
}

/** With the next page. A letter that moved meanwhile is not shown twice. */
export function longer(shown: Rows, next: Rows): Rows {
  const known = new Set(shown.letters.map((letter) => letter.message_id))
  const fresh = next.letters.filter((letter) => !known.has(letter.message_id))
  return { letters: [...shown.letters, ...fresh], more: next.more, cursor: next.cursor }
}
