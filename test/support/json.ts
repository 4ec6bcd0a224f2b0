// Reads JSON of unknown shape without casts: a path that is not there is undefined.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** The value at `path` (keys and array indices), or undefined. */
export function dig(value: Json | undefined, ...path: (string | number)[]): Json | undefined {
  let at = value
  for (const step of path) {
    if (Array.isArray(at)) at = typeof step === 'number' ? at[step] : undefined
    else if (typeof at === 'object' && at !== null) at = at[String(step)]
    else return undefined
  }
  return at
}

/** The array at `path`, or an empty one. */
export function list(value: Json | undefined, ...path: (string | number)[]): Json[] {
  const found = dig(value, ...path)
  return Array.isArray(found) ? found : []
}

/** The string at `path`, or an empty one. */
export function text(value: Json | undefined, ...path: (string | number)[]): string {
  const found = dig(value, ...path)
  return typeof found === 'string' ? found : ''
}

/** Every string inside `value`, in order. */
export function strings(value: Json | undefined): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(strings)
  return []
}
