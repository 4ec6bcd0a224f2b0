// Lists of names, ascending without case, a page at a time.
import { canonical } from '../../wire/names.ts'

const PAGE = 50

type Page<T> = { rows: T[]; has_more: boolean; after: string | null }

/** The rows with a name above `after`; the answer's `after` is the last name shown, or the request's. */
export function pageByName<T extends { readonly name: string }>(
  all: readonly T[],
  request: { limit?: number | null; after?: string | null },
): Page<T> {
  const limit = request.limit ?? PAGE
  const from = request.after == null ? null : canonical(request.after)
  const rest = all
    .map((row) => ({ row, key: canonical(row.name) }))
    .filter(({ key }) => from === null || key > from)
    .sort((a, b) => (a.key < b.key ? -1 : 1))
  const rows = rest.slice(0, limit).map(({ row }) => row)
  return { rows, has_more: rest.length > limit, after: rows.at(-1)?.name ?? request.after ?? null }
}
