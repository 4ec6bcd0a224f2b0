// One dispatch: where it stands, its attempts with what each ended with and what it cost, and what they printed.
import { useState } from 'preact/hooks'
import type { Attempt, Dispatch } from '../../../wire/dispatch.ts'
import { mail, type Refused } from './api.ts'
import { Standing } from './dispatches.tsx'
import { Log } from './log.tsx'
import { useMe } from './me.ts'
import { Title, Trouble, Waiting } from './parts.tsx'
import { to } from './router.ts'
import { Body, Line } from './text.tsx'
import { Age, span, usePulse } from './time.tsx'
import { useLoad } from './use-load.ts'

export function OneDispatch({ id }: { id: number }) {
  const { data, error, reload } = useLoad(`dispatch ${id}`, () => mail('dispatch_show', { id }), usePulse())
  return (
    <>
      <Title text={`Dispatch ${id}`}>
        {data && data.dispatch.state !== 'done' && <Stop dispatch={data.dispatch} stopped={reload} />}
      </Title>
      <Trouble error={error} />
      {data === null && !error && <Waiting />}
      {data && <Facts dispatch={data.dispatch} />}
      {data && data.attempts.length === 0 && <p class="note">It was not started yet.</p>}
      {data?.attempts.toReversed().map((attempt) => (
        <OfAttempt key={attempt.number} dispatch={id} attempt={attempt} />
      ))}
    </>
  )
}

function Facts({ dispatch: one }: { dispatch: Dispatch }) {
  return (
    <section class="group" aria-labelledby="facts">
      <h2 id="facts">
        {one.message_id === null ? (
          'To look at its mail'
        ) : (
          <a href={to('letter', [one.message_id])}>
            <Line text={one.subject || 'The letter'} />
          </a>
        )}
      </h2>
      <p class="line">
        <Standing dispatch={one} />
        <span>
          <Line text={one.by} /> <span class="arrow">to</span> <Line text={one.agent} />
        </span>
        <span class="note">
          asked for <Age at={one.created_at} ago />
        </span>
        {one.ended_at !== null && (
          <span class="note">
            ended <Age at={one.ended_at} ago />
          </span>
        )}
        {one.fresh && <span class="note">in a new session</span>}
        {one.depth > 1 && <span class="note">{one.depth} runs from a person’s word</span>}
      </p>
      {one.reason !== null && (
        <p class="reason">
          <Line text={one.reason} />
        </p>
      )}
      {one.reply !== null && (
        <p>
          <a href={to('letter', [one.reply])}>Its answer</a>
        </p>
      )}
      {one.bounce !== null && (
        <p>
          <a href={to('letter', [one.bounce])}>What the dispatcher was told</a>
        </p>
      )}
    </section>
  )
}

function OfAttempt({ dispatch, attempt }: { dispatch: number; attempt: Attempt }) {
  const { number, mode, provider, cause, detail, tail } = attempt
  const name = `attempt-${number}`
  return (
    <section class="group" aria-labelledby={name}>
      <h2 id={name}>
        Attempt {number}{' '}
        <span class="also">
          {provider}, {mode === 'resume' ? 'where it left off' : 'in a new session'}
        </span>
      </h2>
      <p class="line">
        <span class={cause === null ? 'chip opened' : GOOD.has(cause) ? 'chip closed' : 'chip bad'}>
          {(cause ?? 'at work').replaceAll('_', ' ')}
        </span>
        {evidence(attempt).map((fact) => (
          <span key={fact} class="note">
            {fact}
          </span>
        ))}
      </p>
      {detail !== null && (
        <p class="reason">
          <Line text={detail} />
        </p>
      )}
      {tail !== null && tail !== '' && (
        <figure class="output tail" aria-label={`The end of what attempt ${number} printed`}>
          <Body text={tail} />
        </figure>
      )}
      <Log dispatch={dispatch} attempt={number} running={cause === null} />
    </section>
  )
}

const GOOD: ReadonlySet<string> = new Set(['replied', 'closed', 'ran'])

/** What is known of it, as short facts. */
function evidence(attempt: Attempt): string[] {
  const { exit, signal, forced, leftover, turns, tokens, cost_usd: cost, spawned_at, ended_at, pid } = attempt
  const from = spawned_at === null ? null : Date.parse(spawned_at)
  const took = from === null ? null : ((ended_at === null ? Date.now() : Date.parse(ended_at)) - from) / 1_000
  return [
    ...(took === null ? [] : [span(took)]),
    ...(pid === null || ended_at !== null ? [] : [`process ${pid}`]),
    ...(turns === null ? [] : [`${turns} turn${turns === 1 ? '' : 's'}`]),
    ...(tokens === null ? [] : [`${tokens} tokens`]),
    ...(cost === null ? [] : [`$${cost.toFixed(4)}`]),
    ...(signal === null ? [] : [`by ${signal}`]),
    ...(exit === null ? [] : [`exit ${exit}`]),
    ...(forced ? ['SIGTERM did not end it'] : []),
    ...(leftover > 0 ? [`${leftover} processes were left and ended`] : []),
  ]
}

function Stop({ dispatch: { id, by }, stopped }: { dispatch: Dispatch; stopped: () => void }) {
  const { account, operator } = useMe()
  const [failed, setFailed] = useState<Refused | null>(null)
  const [busy, setBusy] = useState(false)
  if (!operator && by !== account) return null
  const stop = () => {
    setBusy(true)
    mail('dispatch_stop', { id }).then(stopped, (refused: Refused) => {
      setBusy(false)
      setFailed(refused)
    })
  }
  return (
    <>
      <button type="button" disabled={busy} onClick={stop}>
        {busy ? 'Ends…' : 'Stop'}
      </button>
      <Trouble error={failed} />
    </>
  )
}
