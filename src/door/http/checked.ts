// A request that fits its schema, with the type of it.
import type { Static, TSchema } from '@sinclair/typebox'
import { checkRequest } from '../validate.ts'

/**
 * `value`, typed by the schema that it was checked against.
 * @throws Refusal `malformed`, `too_large`
 */
export function checked<S extends TSchema>(schema: S, value: unknown): Static<S> {
  const fault = checkRequest(schema, value)
  if (fault) throw fault
  return value as Static<S> // the compiled check has just proved it
}
