// Pages of lists: ready JSON texts up to a number of items and a byte budget for the whole answer.
import type { MessageRow } from '../store/rows.ts'
import type { Store } from '../store/store.ts'
import { Json } from '../wire/json.ts'
import { LIMITS } from '../wire/limits.ts'
import { bytes } from '../wire/text.ts'
import { rfc3339 } from '../wire/time.ts'
import { cursorAt } from './cursor.ts'
import { briefText, letterText, messageSuffix, previewText, type Sized } from './letter.ts'
import type { Caller, Mail } from './mail.ts'

export type PageRequest = { limit?: number | null; cursor?: string | null; max_bytes?: number | null }

/** How the rows of a list are shown. */
export type Show<T> = {
  /** Not shown and not counted where false. */
  visible: (row: T) => boolean
  text: (row: T) => string | Sized
  /** The same within `limit` bytes: for a row that alone is more than a page. */
  short: (row: T, limit: number) => string
}

/** What a list walks over. A row without a letter is nothing of the reader's: it is only looked at. */
type Row = { id: number; json: string; recipients?: readonly unknown[] }
export const hasLetter = (row: Row): boolean => row.json !== ''

export type Filled<T> = {
  /** The items, joined by commas. */
  text: string
  shown: T[]
  /** The one item that had to be shortened. */
  cut: T | null
  /** There is at least one more visible row, or so much was looked at that it is left to the next page to find one. */
  more: boolean
  /** Id of the row behind which the next page begins; null where it begins where this one did. */
  end: number | null
}

/** Rows looked at for one page, shown or not: nobody waits for a mailbox that has to be walked as a whole. */
export const LOOKED_AT = 4_000

/**
 * So many rows that are not shown at the end of a page are looked at again by the next: a letter among them that is reopened
 * or given back is then found. Longer stretches are passed.
 */
const REPEATED = 200

/** A long letter, or one to many, counts as several rows: each KB and each twenty recipients is one. */
const costOf = (row: Row): number => Math.max(1, row.json.length / 1_000, (row.recipients?.length ?? 0) / 20)

/** Members of a list answer around the items: has_more, cursor, now and a number or two. */
const FRAME = 200

/**
 * Takes rows while they fit; `taken` bytes of the budget are spent elsewhere in the answer. Stops reading as soon as it knows
 * whether there are more, and in any case after `LOOKED_AT` rows.
 */
export function fillPage<T extends Row>(
  rows: Iterable<T>,
  request: PageRequest,
  taken: number,
  show: Show<T>,
): Filled<T> {
  const limit = request.limit ?? LIMITS.pageDefault
  const budget = (request.max_bytes ?? LIMITS.budgetDefault) - FRAME - taken
  const page: Filled<T> = { text: '', shown: [], cut: null, more: false, end: null }
  let used = 0
  let cost = 0
  let hidden = 0
  let passed: number | null = null
  for (const row of rows) {
    if (cost >= LOOKED_AT) {
      page.more = true
      page.end = passed ?? page.end
      break
    }
    cost += costOf(row)
    if (!show.visible(row)) {
      hidden++
      passed = row.id
      continue
    }
    if (page.cut !== null || page.shown.length >= limit) {
      page.more = true
      break
    }
    const item = show.text(row)
    const text = typeof item === 'string' ? item : item.text
    const size = (typeof item === 'string' ? bytes(item) : item.bytes) + 1
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
    page.end = row.id
    hidden = 0
    passed = null
  }
  if (hidden > REPEATED) page.end = passed
  return page
}

/** Messages as `caller` sees them, for lists that are no mailbox. */
export const showMessages = (
  mail: Mail,
  caller: Caller,
  brief: boolean,
  now: number,
): Pick<Show<MessageRow>, 'text' | 'short'> => ({
  text: (message) => (brief ? briefText : letterText)(message.json, messageSuffix(mail, caller, message, now)),
  short: (message, limit) => previewText(message.json, messageSuffix(mail, caller, message, now), limit),
})

/** The answer of a list without further members. */
export function listAnswer<T>(store: Store, member: string, page: Filled<T>, request: PageRequest, now: number): Json {
  const cursor = cursorAt(store, page.end, request.cursor)
  return new Json(`{"${member}":[${page.text}],${endText(page.more, cursor, now)}}`)
}

/** `"has_more":…,"cursor":…,"now":…` */
export const endText = (more: boolean, cursor: string | null, now: number): string =>
  `"has_more":${more},"cursor":${cursor === null ? 'null' : `"${cursor}"`},"now":"${rfc3339(now)}"`
