// A new letter, as the person who is logged in: to accounts, sessions and rooms.
import { useState } from 'preact/hooks'
import type { SendAnswer } from '../../../wire/answers.ts'
import { mail, type Refused } from './api.ts'
import { useDraft } from './draft.ts'
import { useMe } from './me.ts'
import { Title, Trouble } from './parts.tsx'
import { Results, sendOnEnter } from './sending.tsx'
import { useLoad } from './use-load.ts'

/** Several recipients are parted by commas or spaces: neither can be in an address. */
const recipients = (text: string): string[] => text.split(/[\s,]+/).filter((one) => one !== '')

export function Write({ to }: { to: string }) {
  const { account } = useMe()
  const [draft, change, clear] = useDraft(`letter.${to}`, to)
  const [state, setState] = useState<{ busy: boolean; answer: SendAnswer | null; error: Refused | null }>(IDLE)
  const ready = recipients(draft.to).length > 0 && draft.body !== '' && !state.busy
  const submit = (event: Event) => {
    event.preventDefault()
    if (!ready) return
    const { subject, body, key } = draft
    setState({ ...IDLE, busy: true })
    mail('send', { to: recipients(draft.to), subject, body, idempotency_key: key }).then(
      (answer) => {
        if (answer.results.some((result) => result.ok)) clear()
        setState({ ...IDLE, answer })
      },
      (error: Refused) => setState({ ...IDLE, error }),
    )
  }
  return (
    <>
      <Title text="Write" />
      <form class="write" onSubmit={submit}>
        <p class="note">As {account}</p>
        <label for="to">To</label>
        <input
          id="to"
          list="known"
          value={draft.to}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          aria-describedby="to-note"
          onInput={(event) => change({ to: event.currentTarget.value })}
        />
        <Known />
        <p id="to-note" class="note">
          An account, <code>#room</code> or <code>account/s-…</code>; several with commas
        </p>
        <label for="subject">Subject</label>
        <input id="subject" value={draft.subject} onInput={(event) => change({ subject: event.currentTarget.value })} />
        <label for="body">Letter</label>
        <textarea
          id="body"
          rows={12}
          value={draft.body}
          onInput={(event) => change({ body: event.currentTarget.value })}
          onKeyDown={sendOnEnter}
        />
        <button type="submit" class="primary" disabled={!ready}>
          Send
        </button>
        <Trouble error={state.error} />
        {state.answer && <Results answer={state.answer} />}
      </form>
    </>
  )
}

const IDLE = { busy: false, answer: null, error: null }

/** Whom one can write to, as the browser's own suggestions. */
function Known() {
  const { data } = useLoad('known', () => mail('directory', { max_bytes: 200_000 }))
  return (
    <datalist id="known">
      {data?.participants.map(({ id }) => (
        <option key={id} value={id} />
      ))}
      {data?.rooms.map(({ id }) => (
        <option key={`#${id}`} value={`#${id}`} />
      ))}
    </datalist>
  )
}
