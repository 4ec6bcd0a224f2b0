// Answering a letter as the person who is logged in. Its own copy is closed with it, unless that is unticked.
import { useState } from 'preact/hooks'
import type { Message } from '../../../wire/letter.ts'
import { mail, type Refused } from './api.ts'
import { useDraft } from './draft.ts'
import { useMe } from './me.ts'
import { Trouble } from './parts.tsx'
import { Results, sendOnEnter } from './sending.tsx'
import { short } from './text.tsx'

type Sent = Awaited<ReturnType<typeof sendReply>>

const sendReply = (reply_to: string, body: string, close: boolean, idempotency_key: string) =>
  mail('send', { reply_to, body, close, idempotency_key })

export function Reply({ to, sent }: { to: Message; sent: () => void }) {
  const { account } = useMe()
  const [draft, change, clear] = useDraft(`reply.${to.message_id}`)
  const [close, setClose] = useState(true)
  const [state, setState] = useState<{ busy: boolean; answer: Sent | null; error: Refused | null }>(IDLE)
  // only a letter of one's own can be closed
  const own = to.state !== undefined && to.state !== 'closed'
  const submit = (event: Event) => {
    event.preventDefault()
    if (state.busy || draft.body === '') return
    setState({ ...IDLE, busy: true })
    sendReply(to.message_id, draft.body, own && close, draft.key).then(
      (answer) => {
        clear()
        setState({ ...IDLE, answer })
        sent()
      },
      (error: Refused) => setState({ ...IDLE, error }),
    )
  }
  return (
    <form class="reply" onSubmit={submit} aria-label="Reply">
      <label for="reply-body">
        Reply to {answered(to, account)} as {account}
      </label>
      <textarea
        id="reply-body"
        rows={5}
        value={draft.body}
        onInput={(event) => change({ body: event.currentTarget.value })}
        onKeyDown={sendOnEnter}
      />
      <div class="line">
        <button type="submit" class="primary" disabled={state.busy || draft.body === ''}>
          Send
        </button>
        {own && (
          <label class="check">
            <input type="checkbox" checked={close} onChange={(event) => setClose(event.currentTarget.checked)} />
            close the letter
          </label>
        )}
      </div>
      <Trouble error={state.error} />
      {state.answer && <Results answer={state.answer} />}
    </form>
  )
}

/** To whom the mailbox sends an answer: to the room that a letter came from, to the others of one's own, else to its sender. */
function answered(message: Message, account: string): string {
  if (message.state !== undefined && message.to.kind === 'room') return `#${message.to.room}`
  const own = message.from.kind !== 'room' && message.from.participant === account
  return own ? (message.recipients ?? [message.to_text]).map(short).join(', ') : short(message.from_text)
}

const IDLE = { busy: false, answer: null, error: null }
