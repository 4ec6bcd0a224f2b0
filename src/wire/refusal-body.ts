// The body of a refusal as a schema; apart from the refusals themselves, which every command and thread loads.
import { type Static, Type } from '@sinclair/typebox'

/** The body of every refusal, at every door. */
export const RefusalBody = Type.Object(
  { kind: Type.String(), message: Type.String(), hint: Type.String() },
  { additionalProperties: true, description: 'a refusal: kind, message, hint and the facts it is about' },
)
export type RefusalBody = Static<typeof RefusalBody>
