// Sessions: the processes that use the accounts, live ones and those that ended within the last hour.
import type { SessionEntry } from '../../../wire/card.ts'
import { type Participant, readDirectory } from './directory.ts'
import { Empty, Title, Trouble, Waiting } from './parts.tsx'
import { to } from './router.ts'
import { Line, short } from './text.tsx'
import { Age, useTick } from './time.tsx'
import { useLoad } from './use-load.ts'

/** Of one account, or of all. */
export function Sessions({ account }: { account: string | null }) {
  const { data, error } = useLoad('directory', readDirectory, useTick())
  const shown = data?.participants.filter(({ id, sessions }) => sessions.length > 0 && (account ?? id) === id)
  return (
    <>
      <Title text={account === null ? 'Sessions' : `Sessions of ${account}`} />
      <Trouble error={error} />
      {shown === undefined ? !error && <Waiting /> : shown.map((one) => <OfAccount key={one.id} account={one} />)}
      {shown?.length === 0 && <Empty>Nobody is here, and nobody was within the last hour.</Empty>}
    </>
  )
}

function OfAccount({ account: { id, sessions } }: { account: Participant }) {
  return (
    <section aria-labelledby={`of-${id}`}>
      <h2 id={`of-${id}`}>{id}</h2>
      <ul class="sessions">
        {sessions.map((session) => (
          <Session key={session.id} account={id} session={session} />
        ))}
      </ul>
    </section>
  )
}

function Session({ account, session }: { account: string; session: SessionEntry }) {
  const { corroborated, declared, attested } = session.card
  return (
    <li>
      <a href={to('sessions', [account, session.id])}>
        <code>{short(session.address)}</code>
      </a>
      <span class={session.live ? 'presence live' : 'presence'}>{session.live ? 'live' : 'ended'}</span>
      <span>
        seen <Age at={session.last_seen} ago />
      </span>
      <span class="note">
        <Line
          text={[corroborated.provider, declared.working_on, corroborated.cwd ?? attested.exe]
            .filter((text) => text !== null)
            .join(' · ')}
        />
      </span>
    </li>
  )
}
