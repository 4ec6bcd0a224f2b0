// Dispatches: what was asked for and what became of it, and the agents that can be started.
import { useState } from 'preact/hooks'
import type { Dispatch, DispatchStatusAnswer } from '../../../wire/dispatch.ts'
import { Agents } from './agents.tsx'
import { mail, type Refused } from './api.ts'
import { useMe } from './me.ts'
import { Empty, Tabs, Title, Trouble, Waiting } from './parts.tsx'
import { to } from './router.ts'
import { Start } from './start.tsx'
import { Line } from './text.tsx'
import { Age, usePulse } from './time.tsx'
import { useLoad } from './use-load.ts'

const PAGE = 50
const TABS: [string, string][] = [
  ['all', to('dispatch')],
  ['failed', to('dispatch', [], { show: 'failed' })],
]

export function Dispatches({ failed, agent }: { failed: boolean; agent: string }) {
  const { starts } = useMe()
  const [older, setOlder] = useState<{ of: boolean; rows: Dispatch[]; more: boolean } | null>(null)
  const [trouble, setTrouble] = useState<Refused | null>(null)
  // a run says nothing while it works, and one without a letter changes no mail: it is asked now and then
  const { data, error, reload } = useLoad(`dispatch ${failed}`, () => read(failed), usePulse())
  const rest = older?.of === failed ? older : null
  const rows = data === null ? [] : joined(data.dispatches, rest?.rows ?? [])
  const more = rest?.more ?? data?.has_more ?? false
  const next = () =>
    read(failed, rows.at(-1)?.id).then(
      (page) => setOlder({ of: failed, rows: joined(rows, page.dispatches), more: page.has_more }),
      (refused: Refused) => setTrouble(refused),
    )
  return (
    <>
      <Title text="Dispatch" />
      <Trouble error={error ?? trouble} />
      {data === null && !error && <Waiting />}
      {data && starts && data.agents.length > 0 && <Start agents={data.agents} agent={agent} started={reload} />}
      {data && <Agents status={data} changed={reload} />}
      {data && (
        <section aria-labelledby="dispatches">
          <h2 id="dispatches">Dispatches</h2>
          <Tabs label="Which dispatches" tabs={TABS} now={failed ? 'failed' : 'all'} />
          {rows.length === 0 && <Empty>{failed ? 'None came to nothing.' : 'Nothing was dispatched yet.'}</Empty>}
          <ul class="dispatches" aria-labelledby="dispatches">
            {rows.map((one) => (
              <Row key={one.id} dispatch={one} />
            ))}
          </ul>
          {more && (
            <button type="button" class="more" onClick={next}>
              Show older ones
            </button>
          )}
        </section>
      )}
    </>
  )
}

const read = (failed: boolean, before?: number): Promise<DispatchStatusAnswer> =>
  mail('dispatch_status', { failed, limit: PAGE, before: before ?? null })

/** Newest first; what was just read stands for what was read before. */
function joined(head: readonly Dispatch[], tail: readonly Dispatch[]): Dispatch[] {
  const known = new Set(head.map(({ id }) => id))
  return [...head, ...tail.filter(({ id }) => !known.has(id))]
}

const Row = ({ dispatch: one }: { dispatch: Dispatch }) => (
  <li>
    <a class="letter-row" href={to('dispatch', [String(one.id)])}>
      <span class="who">
        {one.id} · <Line text={one.by} /> to <Line text={one.agent} />
        {one.attempts > 1 && `, ${one.attempts} attempts`}
      </span>
      <span class="what">
        <span class="subject">{one.subject === null ? 'its mail' : <Line text={one.subject || 'No subject'} />}</span>
        {one.reason !== null && (
          <span class="preview">
            {' '}
            <Line text={one.reason} />
          </span>
        )}
      </span>
      <span class="state">
        <Standing dispatch={one} />
      </span>
      <Age at={one.created_at} />
    </a>
  </li>
)

const BAD: ReadonlySet<string> = new Set(['silent', 'failed', 'timed_out'])

/** `running, in a tool` · `queued, 2 before it` · `replied`. */
export function Standing({ dispatch: { state, outcome, activity, position } }: { dispatch: Dispatch }) {
  const more = activity ?? (position ? `${position} before it` : null)
  const text = state === 'done' ? (outcome ?? 'done').replace('_', ' ') : state
  const kind = state === 'done' ? (BAD.has(outcome ?? '') ? 'bad' : 'closed') : state === 'running' ? 'opened' : ''
  return (
    <span class={`chip ${kind}`}>
      {text}
      {more !== null && `, ${more}`}
    </span>
  )
}
