// A session's card. Its three groups are kept apart: what the kernel proves, what was found out, what the session says itself.
import type { ComponentChildren } from 'preact'
import type { SessionEntry } from '../../../wire/card.ts'
import { readDirectory } from './directory.ts'
import { useMe } from './me.ts'
import { Empty, Title, Trouble, Waiting } from './parts.tsx'
import { to } from './router.ts'
import { Line } from './text.tsx'
import { Age, useTick } from './time.tsx'
import { useLoad } from './use-load.ts'

export function SessionCard({ account, id }: { account: string; id: string }) {
  const { writes } = useMe()
  const { data, error } = useLoad('directory', readDirectory, useTick())
  const session = data?.participants
    .find((one) => one.id.toLowerCase() === account.toLowerCase())
    ?.sessions.find((one) => one.id.startsWith(id))
  return (
    <>
      <Title text={`Session of ${account}`}>
        {writes && session && (
          <a class="button" href={to('write', [], { to: session.address })}>
            Write to it
          </a>
        )}
      </Title>
      <Trouble error={error} />
      {data === null && !error && <Waiting />}
      {data && !session && <Empty>This session ended some time ago; what is known of it is no longer shown.</Empty>}
      {session && <Groups session={session} />}
    </>
  )
}

function Groups({ session }: { session: SessionEntry }) {
  const { attested, corroborated, declared } = session.card
  const { sources } = corroborated
  return (
    <>
      <p>
        <code class="id">{session.address}</code>{' '}
        <span class={session.live ? 'presence live' : 'presence'}>{session.live ? 'live' : 'ended'}</span>, seen{' '}
        <Age at={session.last_seen} ago />
      </p>
      <div class="groups">
        <Group title="Attested" note="The kernel says so. The process cannot write it.">
          <Fact name="Process" value={String(attested.pid)} />
          <Fact name="Started" value={new Date(attested.started_at_unix_ms).toLocaleString()} />
          <Fact name="Program" value={attested.exe} />
          <Fact name="User" value={String(attested.uid)} />
          <Fact name="Spawned by" value={attested.spawned_by} />
        </Group>
        <Group title="Corroborated" note="Read out of the process, or told by its client. Each says where from.">
          <Fact name="Provider" value={corroborated.provider} source={sources.provider} />
          <Fact
            name="Provider’s session"
            value={corroborated.provider_session_id}
            source={sources.provider_session_id}
          />
          <Fact name="Conversation" value={corroborated.conversation} source={sources.conversation} />
          <Fact name="Model" value={corroborated.model} source={sources.model} />
          <Fact name="Folder" value={corroborated.cwd} source={sources.cwd} />
        </Group>
        <Group title="Declared" note="The session says so about itself. Nothing proves it.">
          <Fact name="Works on" value={declared.working_on} absent="not said" />
          <Fact name="Role" value={declared.role} absent="not said" />
          <Fact name="Parent" value={declared.parent} absent="not said" />
        </Group>
      </div>
    </>
  )
}

const Group = ({ title, note, children }: { title: string; note: string; children: ComponentChildren }) => (
  <section class="group" aria-labelledby={`group-${title}`}>
    <h2 id={`group-${title}`}>{title}</h2>
    <p class="note">{note}</p>
    <dl>{children}</dl>
  </section>
)

type FactProps = { name: string; value: string | null; source?: string | undefined; absent?: string }

const Fact = ({ name, value, source, absent = 'not known' }: FactProps) => (
  <div class="fact">
    <dt>{name}</dt>
    <dd>
      {value === null ? <span class="absent">{absent}</span> : <Line text={value} />}
      {value !== null && source !== undefined && <span class="source">{source}</span>}
    </dd>
  </div>
)
