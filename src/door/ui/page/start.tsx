// Having an agent started, as the person who is logged in: with a letter, or only to look at its mail.
import { useState } from 'preact/hooks'
import type { Dispatched, DispatchStatusAnswer } from '../../../wire/dispatch.ts'
import { mail, type Refused } from './api.ts'
import { useDraft } from './draft.ts'
import { useMe } from './me.ts'
import { Trouble } from './parts.tsx'
import { to } from './router.ts'
import { sendOnEnter } from './sending.tsx'

type Props = { agents: DispatchStatusAnswer['agents']; agent: string; started: () => void }

export function Start({ agents, agent, started }: Props) {
  const { account } = useMe()
  const [draft, change, clear] = useDraft('dispatch', agent || agents[0]?.id)
  const [fresh, setFresh] = useState(false)
  const [open] = useState(agent !== '' || draft.body !== '') // from then on it is whoever looks that opens and closes it
  const [state, setState] = useState<{ busy: boolean; answer: Dispatched | null; error: Refused | null }>(IDLE)
  const whom = agents.some(({ id }) => id === draft.to) ? draft.to : (agents[0]?.id ?? '')
  const ready = draft.body !== '' && !state.busy
  const ask = (call: Promise<{ dispatch?: Dispatched }>, done: () => void) => {
    setState({ ...IDLE, busy: true })
    call.then(
      ({ dispatch }) => {
        done()
        setState({ ...IDLE, answer: dispatch ?? null })
        started()
      },
      (error: Refused) => setState({ ...IDLE, error }),
    )
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (!ready) return
    const { subject, body, key } = draft
    ask(mail('send', { to: whom, subject, body, dispatch: fresh ? 'fresh' : 'resume', idempotency_key: key }), clear)
  }
  return (
    <details class="start" open={open}>
      <summary>Start an agent</summary>
      <form class="write" aria-label="Start an agent" onSubmit={submit}>
        <p class="note">As {account}; the answer comes to your mail</p>
        <label for="agent">Agent</label>
        <select id="agent" value={whom} onChange={(event) => change({ to: event.currentTarget.value })}>
          {agents.map(({ id }) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
        <label for="task-subject">Subject</label>
        <input
          id="task-subject"
          value={draft.subject}
          onInput={(event) => change({ subject: event.currentTarget.value })}
        />
        <label for="task-body">Letter</label>
        <textarea
          id="task-body"
          rows={6}
          value={draft.body}
          onInput={(event) => change({ body: event.currentTarget.value })}
          onKeyDown={sendOnEnter}
        />
        <div class="line">
          <button type="submit" class="primary" disabled={!ready}>
            Dispatch
          </button>
          <label class="check">
            <input type="checkbox" checked={fresh} onChange={(event) => setFresh(event.currentTarget.checked)} />
            in a new session
          </label>
          <button
            type="button"
            disabled={state.busy}
            onClick={() => ask(mail('dispatch_wake', { target: whom, fresh }), () => {})}
          >
            Only have it look at its mail
          </button>
        </div>
        <Trouble error={state.error} />
        {state.answer && <Asked dispatched={state.answer} />}
      </form>
    </details>
  )
}

function Asked({ dispatched: { id, agent, state, position } }: { dispatched: Dispatched }) {
  return (
    <p class="results" role="status">
      {id === undefined ? (
        `${agent}: a ping, answered by the mailbox; nobody is started`
      ) : (
        <>
          <a href={to('dispatch', [String(id)])}>Dispatch {id}</a> to {agent}: {state}
          {position ? `, ${position} before it` : ''}
        </>
      )}
    </p>
  )
}

const IDLE = { busy: false, answer: null, error: null }
