// Full-text search over what the person may read; the words stand in the address, so that a search can be linked and gone back to.
import { useState } from 'preact/hooks'
import { mail } from './api.ts'
import { rowsOf } from './entries.ts'
import { LetterList } from './letter-list.tsx'
import { Title } from './parts.tsx'
import { go, to } from './router.ts'

const BYTES = 200_000

export function Search({ query }: { query: string }) {
  const [words, setWords] = useState(query)
  const submit = (event: Event) => {
    event.preventDefault()
    if (words.trim() !== '') go(to('search', [], { q: words.trim() }))
  }
  return (
    <>
      <Title text="Search" />
      <search>
        <form class="search" onSubmit={submit}>
          <label for="query">Words in subjects and letters</label>
          <div class="line">
            <input
              id="query"
              type="search"
              value={words}
              autocomplete="off"
              onInput={(event) => setWords(event.currentTarget.value)}
            />
            <button type="submit" class="primary">
              Search
            </button>
          </div>
        </form>
      </search>
      {query !== '' && (
        <LetterList
          name={`search ${query}`}
          read={async (cursor, limit) => rowsOf(await mail('search', { query, cursor, limit, max_bytes: BYTES }))}
          empty="No letter has these words."
        />
      )}
    </>
  )
}
