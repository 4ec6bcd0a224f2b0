// One resolver for the session of a process: sources in their order, and no two that name different ones.

/** `session`: the id that it is known by; `local`: the client's own, where the source knows that as well. */
export type Source = { name: string; session: string | null; local?: string | null }
export type Resolved = { session: string; local: string | null; from: string }

/** The sources, never the ids. */
export class Disagreement extends Error {
  constructor(
    readonly what: 'session' | 'local session',
    readonly sources: readonly [string, string],
  ) {
    super(`${sources[0]} and ${sources[1]} name different ${what}s for one process`)
  }
}

const ID = /^[\x21-\x7e]{1,128}$/

/**
 * The first that knows; those after it may add the client's own id, and contradict nothing. Null: none knows.
 * Throws `Disagreement`.
 */
export function resolveSession(sources: readonly Source[]): Resolved | null {
  let session: { id: string; from: string } | null = null
  let local: { id: string; from: string } | null = null
  for (const source of sources) {
    const id = valid(source.session)
    const own = valid(source.local ?? null)
    if (id !== null && session !== null && session.id !== id)
      throw new Disagreement('session', [session.from, source.name])
    if (own !== null && local !== null && local.id !== own)
      throw new Disagreement('local session', [local.from, source.name])
    if (id !== null) session ??= { id, from: source.name }
    if (own !== null) local ??= { id: own, from: source.name }
  }
  return session && { session: session.id, local: local?.id ?? null, from: session.from }
}

const valid = (id: string | null): string | null => (id !== null && ID.test(id) ? id : null)
