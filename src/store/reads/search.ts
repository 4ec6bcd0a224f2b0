// Full-text search: a reader's query made safe for FTS5, bounded to the boxes that may see the letter.
import type { Database } from 'bun:sqlite'
import { accountToken, boxToken } from '../projector.ts'
import type { SearchScope } from '../store.ts'

/** Words and "quoted phrases", all of which must occur; a trailing * on a word matches its beginnings. Null: nothing to search for. */
export function matchExpression(query: string): string | null {
  const terms: string[] = []
  for (const [, phrase, word] of query.matchAll(/"([^"]*)"|(\S+)/g)) {
    const text = phrase ?? word ?? ''
    const prefix = phrase === undefined && text.endsWith('*')
    const clean = (prefix ? text.slice(0, -1) : text).replaceAll('"', '').replaceAll('\0', '')
    if (/[\p{L}\p{N}]/u.test(clean)) terms.push(`"${clean}"${prefix ? ' *' : ''}`)
  }
  return terms.length > 0 ? `{subject body} : (${terms.join(' AND ')})` : null
}

/** Ids that match, newest first, below `before`. Without a query: all in the scope. */
export function searchIndex(
  index: Database,
  query: string | null,
  scope: SearchScope,
  before: number,
  limit: number,
): number[] {
  const match = query === null ? null : matchExpression(query)
  if (query !== null && match === null) return []
  const who = scope === 'all' ? null : `who : (${tokensOf(scope).join(' OR ')})`
  const expression = [match, who].filter((part) => part !== null).join(' AND ')
  if (expression === '')
    return ids(index, 'SELECT rowid AS id FROM letter WHERE rowid < ? ORDER BY rowid DESC LIMIT ?', before, limit)
  return ids(
    index,
    'SELECT rowid AS id FROM letter WHERE letter MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?',
    expression,
    before,
    limit,
  )
}

const tokensOf = ({ boxes, account }: Exclude<SearchScope, 'all'>): string[] => [
  ...boxes.map(boxToken),
  ...(account === null ? [] : [accountToken(account)]),
]

const ids = (index: Database, sql: string, ...bounds: (string | number)[]): number[] =>
  index
    .query<{ id: number }, (string | number)[]>(sql)
    .all(...bounds)
    .map((row) => row.id)
