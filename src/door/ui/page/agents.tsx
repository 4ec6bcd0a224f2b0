// The agents that can be started: what their profiles say, whether they are paused; operators pause and resume them here.
import { useState } from 'preact/hooks'
import type { Agent, DispatchStatusAnswer } from '../../../wire/dispatch.ts'
import { admin, type Refused } from './api.ts'
import { useMe } from './me.ts'
import { Empty, Trouble } from './parts.tsx'
import { Line } from './text.tsx'
import { useLoad } from './use-load.ts'

export function Agents({ status, changed }: { status: DispatchStatusAnswer; changed: () => void }) {
  const { operator } = useMe()
  const { data, error, reload } = useLoad('agents', () => (operator ? readProfiles() : Promise.resolve([])))
  const done = () => {
    reload()
    changed()
  }
  return (
    <section aria-labelledby="agents">
      <h2 id="agents">Agents</h2>
      <Trouble error={error} />
      {status.paused !== null && (
        <p class="note warn">
          Nothing is started: <Line text={status.paused} />
        </p>
      )}
      {status.agents.length === 0 && <Empty>No account has a profile: mail4agent agent add</Empty>}
      {status.agents.length > 0 && (
        <ul class="agents" aria-labelledby="agents">
          {status.agents.map((one) => (
            <OfAgent key={one.id} agent={one} profile={data?.find(({ id }) => id === one.id)} changed={done} />
          ))}
        </ul>
      )}
      {operator && status.agents.length > 0 && <Pause id={null} paused={status.paused !== null} changed={done} />}
    </section>
  )
}

async function readProfiles(): Promise<Agent[]> {
  const agents: Agent[] = []
  for (let after: string | null = null; ; ) {
    const page: { agents: Agent[]; has_more: boolean; after: string | null } = await admin('agent/list', {
      limit: 256,
      after,
    })
    agents.push(...page.agents)
    if (!page.has_more) return agents
    after = page.after
  }
}

type OfAgentProps = { agent: DispatchStatusAnswer['agents'][number]; profile: Agent | undefined; changed: () => void }

function OfAgent({ agent: { id, provider, paused, queued, running }, profile, changed }: OfAgentProps) {
  const { operator } = useMe()
  const busy = [...(running > 0 ? [`${running} running`] : []), ...(queued > 0 ? [`${queued} waiting`] : [])]
  return (
    <li aria-label={id}>
      <div class="line">
        <strong>{id}</strong>
        <span class="also">{provider}</span>
        <span class={running > 0 ? 'presence live' : 'presence'}>{busy.length === 0 ? 'idle' : busy.join(', ')}</span>
        {operator && <Pause id={id} paused={paused !== null} changed={changed} />}
      </div>
      {paused !== null && (
        <p class="note warn">
          paused: <Line text={paused} />
        </p>
      )}
      {profile && (
        <details>
          <summary>
            Profile<span class="unheard"> of {id}</span>
          </summary>
          <dl class="profile">
            {factsOf(profile).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <Line text={value} />
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </li>
  )
}

const factsOf = (one: Agent): [string, string][] => [
  ['Program', one.program === null ? `${one.provider}, from the PATH` : [one.program, ...one.args].join(' ')],
  ['Folder', one.cwd],
  ['Model', one.model ?? 'the client’s own choice'],
  ['Permission', one.permission],
  ['Today', `${one.today} of ${one.per_day}`],
  ['Attempts', `${one.attempts}, of ${one.max_turns} turns each`],
  ['Time', `${one.attempt_secs} s an attempt, ${one.total_secs} s in all; silent for ${one.stall_secs} s is hung`],
  ['Depth', String(one.depth)],
  ['May ask', one.allow.length === 0 ? 'persons' : `persons, ${one.allow.join(', ')}`],
  ...(one.block.length === 0 ? [] : [['May not', one.block.join(', ')] satisfies [string, string]]),
  ...(one.env.length === 0 ? [] : [['Environment', one.env.join(', ')] satisfies [string, string]]),
]

/** `id` null: all of them. The reason is told to everybody who is refused. */
function Pause({ id, paused, changed }: { id: string | null; paused: boolean; changed: () => void }) {
  const [reason, setReason] = useState<string | null>(null)
  const [error, setError] = useState<Refused | null>(null)
  const what = id ?? 'all'
  const act = (call: Promise<unknown>) =>
    call.then(
      () => {
        setReason(null)
        setError(null)
        changed()
      },
      (refused: Refused) => setError(refused),
    )
  if (paused)
    return (
      <span class="pause">
        <button type="button" onClick={() => act(admin('dispatch/resume', { id }))}>
          Resume {what}
        </button>
        <Trouble error={error} />
      </span>
    )
  if (reason === null)
    return (
      <span class="pause">
        <button type="button" onClick={() => setReason('')}>
          Pause {what}…
        </button>
      </span>
    )
  const submit = (event: Event) => {
    event.preventDefault()
    if (reason.trim() !== '') act(admin('dispatch/pause', { id, reason }))
  }
  return (
    <form class="pause line" onSubmit={submit}>
      <label for={`why-${what}`}>Why</label>
      <input
        id={`why-${what}`}
        value={reason}
        ref={focusOnce}
        onInput={(event) => setReason(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && setReason(null)}
      />
      <button type="submit" class="primary" disabled={reason.trim() === ''}>
        Pause {what}
      </button>
      <button type="button" onClick={() => setReason(null)}>
        Cancel
      </button>
      <Trouble error={error} />
    </form>
  )
}

/** Whoever asked for the field writes next. */
const focusOnce = (input: HTMLInputElement | null): void => input?.focus()
