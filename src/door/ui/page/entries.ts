// Letters of any list as rows: those that operators read are rows already, those of one's own mailbox are made into rows.
import type { Message } from '../../../wire/letter.ts'
import type { Entry } from '../../../wire/overview.ts'

export type Rows = { letters: Entry[]; more: boolean; cursor: string | null }

const PREVIEW = 240

export const entryOf = (message: Message): Entry => ({
  message_id: message.message_id,
  thread: message.thread,
  from_text: message.from_text,
  ...(message.imported === undefined ? {} : { imported: true }),
  to: (message.recipients ?? [message.to_text]).slice(0, 5),
  subject: message.subject,
  preview: message.body.slice(0, PREVIEW).toWellFormed(),
  ...(message.state === undefined ? {} : { state: message.state }),
  created_at: message.created_at,
  age_secs: message.age_secs,
})

export const rowsOf = (answer: { messages: Message[]; has_more: boolean; cursor: string | null }): Rows => ({
  letters: answer.messages.map(entryOf),
  more: answer.has_more,
  cursor: answer.cursor,
})

export const entriesOf = (answer: { letters: Entry[]; has_more: boolean; cursor: string | null }): Rows => ({
  letters: answer.letters,
  more: answer.has_more,
  cursor: answer.cursor,
})
