// What the doctor found: one sentence, how bad it is, what to do, the facts behind it; and what may be mended without asking.

export type Level = 'ok' | 'warn' | 'fail'

/** The shape that `doctor --json` lists. */
export type Finding = {
  /** Which check says so: its name in the table, for one of several things with that thing's name behind it. */
  check: string
  level: Level
  /** One line, lower case, no full stop. */
  what: string
  /** A command or an action that mends it; null where nothing needs to be done. */
  todo: string | null
  facts: Record<string, unknown>
}

/** Mends it; resolves to what was done, one line for each thing. Throws when it cannot. */
export type Fix = () => string[] | Promise<string[]>

/** A finding on its way: `of` is the thing among several, `fix` is there only where mending is safe. */
export type Found = Omit<Finding, 'check'> & { of?: string; fix?: Fix }

export const fine = (what: string, facts: Finding['facts'] = {}): Found => ({ level: 'ok', what, todo: null, facts })

export const warn = (what: string, todo: string, facts: Finding['facts'] = {}, fix?: Fix): Found =>
  found('warn', what, todo, facts, fix)

export const fail = (what: string, todo: string, facts: Finding['facts'] = {}, fix?: Fix): Found =>
  found('fail', what, todo, facts, fix)

const found = (level: Level, what: string, todo: string, facts: Finding['facts'], fix: Fix | undefined): Found => ({
  level,
  what,
  todo,
  facts,
  ...(fix === undefined ? {} : { fix }),
})

/** The words of a system error, or of anything else that was thrown. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message.split(', ')[0] ?? error.name // of a system error the rest is the call and the path
}
