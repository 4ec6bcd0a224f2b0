// What is being written: kept in this tab, so that a login that ends, or a reload, loses no word.
import { useState } from 'preact/hooks'

export type Draft = { to: string; subject: string; body: string; key: string }

/** A key of its own for each letter: sending it twice, because the first answer was lost, sends it once. */
const fresh = (to: string): Draft => ({ to, subject: '', body: '', key: crypto.randomUUID() })

export function useDraft(name: string, to = ''): [Draft, (change: Partial<Draft>) => void, () => void] {
  const place = `m4a.draft.${name}`
  const [draft, setDraft] = useState<Draft>(() => {
    const kept = sessionStorage.getItem(place)
    return kept === null ? fresh(to) : JSON.parse(kept)
  })
  const change = (part: Partial<Draft>) => {
    const next = { ...draft, ...part, key: crypto.randomUUID() }
    sessionStorage.setItem(place, JSON.stringify(next))
    setDraft(next)
  }
  const clear = () => {
    sessionStorage.removeItem(place)
    setDraft(fresh(to))
  }
  return [draft, change, clear]
}
