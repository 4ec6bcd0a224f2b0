// The column `recipients` of a message: to whom it went, as a JSON array of [text, kind, box, account, room].
import type { Kind, Recipient } from './rows.ts'

export const recipientsText = (recipients: readonly Recipient[]): string =>
  JSON.stringify(recipients.map((to) => [to.text, to.kind, to.box, to.account, to.room]))

export const recipientsOf = (text: string): Recipient[] =>
  (JSON.parse(text) as [string, Kind, number, number, number][]).map(([text, kind, box, account, room]) => ({
    text,
    kind,
    box,
    account,
    room,
  }))
