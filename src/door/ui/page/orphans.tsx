// Mail of sessions that ended for good: nobody reads it until it is given to their account.
import { useState } from 'preact/hooks'
import { admin, type Refused } from './api.ts'
import { Trouble } from './parts.tsx'
import { short } from './text.tsx'
import { useLoad } from './use-load.ts'

export function Orphans() {
  const { data, error, reload } = useLoad('orphans', () => admin('orphan/list', {}))
  const [failed, setFailed] = useState<Refused | null>(null)
  const release = (account: string, session: string) =>
    admin('orphan/release', { account, session }).then(
      () => {
        setFailed(null)
        reload()
      },
      (refused: Refused) => setFailed(refused),
    )
  return (
    <section aria-labelledby="orphans">
      <h2 id="orphans">Orphaned letters</h2>
      <p class="note">
        Written to sessions that have ended. Nobody reads them until you give them to the account of that session.
      </p>
      <Trouble error={failed ?? error} />
      <ul class="plain">
        {data?.orphans.map(({ account, session, count }) => (
          <li key={session} class="line">
            <code>{short(`${account}/${session}`)}</code>
            <span>
              {count} {count === 1 ? 'letter' : 'letters'}
            </span>
            <button type="button" onClick={() => release(account, session)}>
              Give to {account}
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
