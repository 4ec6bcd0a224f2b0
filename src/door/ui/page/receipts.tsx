// What became of a letter, for those who may know: each delivery with its state and when that came about.
import { useState } from 'preact/hooks'
import type { Message, Receipt } from '../../../wire/letter.ts'
import { mail } from './api.ts'
import { State, Trouble, Waiting } from './parts.tsx'
import { Line, short } from './text.tsx'
import { Age } from './time.tsx'
import { useLoad } from './use-load.ts'

export function Receipts({ message }: { message: Message }) {
  const [open, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>What became of it</summary>
      {open && <List id={message.message_id} />}
    </details>
  )
}

function List({ id }: { id: string }) {
  const { data, error } = useLoad(`receipts ${id}`, () => mail('receipts', { message_id: id }))
  if (data === null) return error ? <Trouble error={error} /> : <Waiting />
  const deliveries = data.receipts[0]?.deliveries ?? []
  if (deliveries.length === 0) return <p class="note">Nothing that you may know.</p>
  return (
    <ul class="plain">
      {deliveries.map((receipt) => (
        <li key={`${receipt.to_text} ${receipt.participant ?? ''}`} class="line">
          <Line text={receipt.participant ?? short(receipt.to_text)} />
          <State state={receipt.state} />
          <When receipt={receipt} />
        </li>
      ))}
    </ul>
  )
}

function When({ receipt }: { receipt: Receipt }) {
  const { opened_at, opened_by, closed_at, closed_by, close_reason, notified_at, warning } = receipt
  if (closed_at !== undefined)
    return (
      <span class="note">
        {close_reason} <Age at={closed_at} ago />
        {closed_by !== undefined && ` by ${short(closed_by)}`}
      </span>
    )
  if (opened_at !== undefined)
    return (
      <span class="note">
        <Age at={opened_at} ago />
        {opened_by !== undefined && ` by ${short(opened_by)}`}
      </span>
    )
  if (warning !== undefined) return <span class="note warn">{warning}</span>
  return notified_at === undefined ? null : (
    <span class="note">
      told of it <Age at={notified_at} ago />
    </span>
  )
}
