// What a doorbell says when it rings at a listener: ids only, never a subject or a body.
import { type Static, Type } from '@sinclair/typebox'
import { Address } from './address.ts'
import { MessageId, Name } from './names.ts'

export const DoorbellRing = Type.Object({
  account: Name,
  to: Address,
  message_id: MessageId,
  from: Address,
})
export type DoorbellRing = Static<typeof DoorbellRing>
