// Data of a view: read when the view appears or what it asks for changes, and again when something happens in the mailbox.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { Refused } from './api.ts'
import { useFollowed } from './emitter.ts'
import { changes } from './live.ts'

export type Loaded<T> = { data: T | null; error: Refused | null; reload: () => void }

/**
 * `key`: what is asked for, as text; data of another key is never shown. Older data stays until the newer is there.
 * `tick`: it is read anew when this changes, for what changes without a word.
 */
export function useLoad<T>(key: string, load: () => Promise<T>, tick = 0): Loaded<T> {
  const [state, setState] = useState<{ key: string; data: T | null; error: Refused | null }>(EMPTY)
  const [again, setAgain] = useState(0)
  const version = useFollowed(changes)
  const running = useRef<{ key: string; stale: boolean } | null>(null)
  const latest = useRef(load)
  latest.current = load
  useEffect(() => {
    // one reading at a time: where things happen faster than they are read, each reading is shown all the same
    if (running.current?.key === key) {
      running.current.stale = true
      return
    }
    const own = { key, stale: false }
    running.current = own
    const read = () => {
      own.stale = false
      latest.current().then(
        (data) => done((before) => ({ ...before, data, error: null })),
        (error: unknown) => {
          if (!(error instanceof Refused)) throw error
          done((before) => ({ ...before, error }))
        },
      )
    }
    const done = (change: (before: Omit<typeof state, 'key'>) => Omit<typeof state, 'key'>) => {
      if (running.current !== own) return // another thing is asked for by now
      setState((before) => ({ ...change(before.key === key ? before : EMPTY), key }))
      if (own.stale) read()
      else running.current = null
    }
    read()
  }, [key, version, again, tick])
  useEffect(
    () => () => {
      running.current = null
    },
    [],
  )
  const reload = useCallback(() => setAgain((count) => count + 1), [])
  const own = state.key === key ? state : EMPTY
  return { data: own.data, error: own.error, reload }
}

const EMPTY = { key: '\0', data: null, error: null }
