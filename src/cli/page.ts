// Options and talk that every paged list has.

import { LIMITS } from '../wire/limits.ts'
import type { Context } from './context.ts'
import { wholeNumber } from './usage.ts'

export const PAGE_OPTIONS = {
  limit: {
    short: 'n',
    value: 'COUNT',
    help: `at most so many (1 to ${LIMITS.pageMax}, default ${LIMITS.pageDefault})`,
  },
  cursor: { value: 'CURSOR', help: 'go on after an earlier page; it says its cursor when there is more' },
} as const

/** The paging members of a request; null where nothing was said. */
export const pageRequest = (options: { limit: string | undefined; cursor: string | undefined }) => ({
  limit: options.limit === undefined ? null : wholeNumber('--limit', options.limit, 1, LIMITS.pageMax),
  cursor: options.cursor ?? null,
})

/** Says on stderr how the list goes on. */
export function sayMore(context: Context, answer: { has_more: boolean; cursor: string | null }): void {
  if (answer.has_more && answer.cursor !== null && !context.json)
    context.say(`there is more: add --cursor ${answer.cursor}`)
}
