// Pages of lists: ready JSON texts up to a number of items and a byte budget for the whole answer.
import type { MessageRow } from '../store/rows.ts'
import type { Store } from '../store/store.ts'
import { Json } from '../wire/json.ts'
import { LIMITS } from '../wire/limits.ts'
import { bytes } from '../wire/text.ts'
import { rfc3339 } from '../wire/time.ts'
import { cursorAt } from './cursor.ts'
import { letterText, messageSuffix, previewText } from './letter.ts'
import type { Caller, Mail } from './mail.ts'

export type PageRequest = { limit?: number | null; cursor?: string | null; max_bytes?: number | null }

/** How the rows of a list are shown. */
export type Show<T> = {
  /** Not shown and not counted where false. */
  visible: (row: T) => boolean
  text: (row: T) => string
  /** The same within `limit` bytes: for a row that alone is more than a page. */
  short: (row: T, limit: number) => string
}

export type Filled<T> = {
  /** The items, joined by commas. */
  text: string
  shown: T[]
  /** The one item that had to be shortened. */
  cut: T | null
  /** There is at least one more visible row. */
  more: boolean
}

/** Members of a list answer around the items: has_more, cursor, now and a number or two. */
const FRAME = 200

/** Takes rows while they fit; `taken` bytes of the budget are spent elsewhere in the answer. Stops reading as soon as it knows. */
export function fillPage<T>(rows: Iterable<T>, request: PageRequest, taken: number, show: Show<T>): Filled<T> {
  const limit = request.limit ?? LIMITS.pageDefault
  const budget = (request.max_bytes ?? LIMITS.budgetDefault) - FRAME - taken
  const page: Filled<T> = { text: '', shown: [], cut: null, more: false }
  let used = 0
  for (const row of rows) {
    if (!show.visible(row)) continue
    if (page.cut !== null || page.shown.length >= limit) {
      page.more = true
      break
    }
    const text = show.text(row)
    const size = bytes(text) + 1
    if (used + size <= budget) page.text += used === 0 ? text : `,${text}`
    else if (used === 0) {
      page.text = show.short(row, budget)
      page.cut = row
    } else {
      page.more = true
      break
    }
    used += size
    page.shown.push(row)
  }
  return page
}

/** Messages as `caller` sees them, for lists that are no mailbox. */
export const showMessages = (mail: Mail, caller: Caller, now: number): Pick<Show<MessageRow>, 'text' | 'short'> => ({
  text: (message) => letterText(message.json, messageSuffix(mail, caller, message, now)),
  short: (message, limit) => previewText(message.json, messageSuffix(mail, caller, message, now), limit),
})

/** The answer of a list without further members. */
export function listAnswer<T extends { id: number }>(
  store: Store,
  member: string,
  page: Filled<T>,
  request: PageRequest,
  now: number,
): Json {
  const cursor = cursorAt(store, page.shown.at(-1)?.id ?? null, request.cursor)
  return new Json(`{"${member}":[${page.text}],${endText(page.more, cursor, now)}}`)
}

/** `"has_more":…,"cursor":…,"now":…` */
export const endText = (more: boolean, cursor: string | null, now: number): string =>
  `"has_more":${more},"cursor":${cursor === null ? 'null' : `"${cursor}"`},"now":"${rfc3339(now)}"`
