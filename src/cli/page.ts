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

type Page = { has_more: boolean; cursor: string | null }
type Asked = { limit: number | null; cursor: string | null }

/**
 * A list as it is to be shown: for a table all the rows that were asked for, without bodies, however many answers that takes;
 * else the one answer, as a program would get it.
 */
export async function listOf<A extends Page, R extends Asked>(
  isTable: boolean,
  request: R,
  ask: (request: R & { brief?: true }) => Promise<A>,
  items: (answer: A) => unknown[],
): Promise<A> {
  if (!isTable) return ask(request)
  const brief = { ...request, brief: true as const }
  const wanted = request.limit ?? LIMITS.pageDefault
  const answer = await ask(brief)
  while (answer.has_more && answer.cursor !== null && items(answer).length < wanted) {
    const page: A = await ask({ ...brief, limit: wanted - items(answer).length, cursor: answer.cursor })
    items(answer).push(...items(page))
    answer.has_more = page.has_more
    answer.cursor = page.cursor
  }
  return answer
}

/** Says on stderr how the list goes on. */
export function sayMore(context: Context, answer: { has_more: boolean; cursor: string | null }): void {
  if (answer.has_more && answer.cursor !== null && !context.json)
    context.say(`there is more: add --cursor ${answer.cursor}`)
}
