// Full-text search: a reader's query made safe for FTS5, bounded to the boxes that may see the letter.
import type { Database } from 'bun:sqlite'
import { accountToken, boxToken } from '../projector.ts'

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

/** Ids that match, newest first, below `before`. */
export function searchIndex(
  index: Database,
  query: string,
  scope: { boxes: readonly number[]; account: number } | 'all',
  before: number,
  limit: number,
): number[] {
  const match = matchExpression(query)
  if (match === null) return []
  const who =
    scope === 'all' ? '' : ` AND who : (${[...scope.boxes.map(boxToken), accountToken(scope.account)].join(' OR ')})`
  return index
    .query<{ id: number }, [string, number, number]>(
      'SELECT rowid AS id FROM letter WHERE letter MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?',
    )
    .all(match + who, before, limit)
    .map((row) => row.id)
}
