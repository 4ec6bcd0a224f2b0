// The first view: who is live, what lies unread and for how long, and how the parts of the mailbox do.
import type { AccountState, OverviewAnswer, Part } from '../../../wire/overview.ts'
import { admin, mail } from './api.ts'
import { useMe } from './me.ts'
import { Orphans } from './orphans.tsx'
import { Title, Trouble, Waiting } from './parts.tsx'
import { to } from './router.ts'
import { Line } from './text.tsx'
import { Age, span, useTick } from './time.tsx'
import { useLoad } from './use-load.ts'

export function Overview() {
  const { operator } = useMe()
  // processes end without a word: who lives is asked now and then
  const { data, error } = useLoad('overview', () => (operator ? readAll() : readNames()), useTick())
  return (
    <>
      <Title text="Overview" />
      <Trouble error={error} />
      {data === null && !error && <Waiting />}
      {data && <Board board={data} />}
    </>
  )
}

/** What others than operators may know of an account: that it is there. */
type Shown = Pick<AccountState, 'id' | 'label' | 'kind' | 'live_sessions'> & Partial<AccountState>
type BoardData = { accounts: Shown[]; parts: OverviewAnswer['parts'] | null; orphaned: number }

async function readAll(): Promise<BoardData> {
  const accounts: AccountState[] = []
  for (let after: string | null = null; ; ) {
    const page: OverviewAnswer = await admin('overview', { limit: 256, after })
    accounts.push(...page.accounts)
    if (!page.has_more) return { accounts, parts: page.parts, orphaned: page.orphaned_sessions }
    after = page.after
  }
}

async function readNames(): Promise<BoardData> {
  const { participants } = await mail('directory', { max_bytes: 1_000_000 })
  const accounts = participants.map(({ id, label, kind, sessions }) => ({
    id,
    label,
    kind,
    live_sessions: sessions.filter(({ live }) => live).length,
  }))
  return { accounts, parts: null, orphaned: 0 }
}

function Board({ board: { accounts, parts, orphaned } }: { board: BoardData }) {
  const live = accounts.reduce((sum, account) => sum + account.live_sessions, 0)
  const unread = accounts.reduce((sum, account) => sum + (account.unread ?? 0) + (account.session_unread ?? 0), 0)
  const oldest = Math.max(-1, ...accounts.map((account) => account.oldest_unread_age_secs ?? -1))
  const bells = accounts.filter((account) => account.doorbell)
  const failing = bells.filter((account) => account.doorbell?.last_error != null)
  return (
    <>
      <dl class="figures">
        <Figure name="Live sessions" value={String(live)} />
        {parts && <Figure name="Unread" value={String(unread)} note={oldest < 0 ? null : `oldest ${span(oldest)}`} />}
        {parts && (
          <Figure
            name="Doorbells"
            value={bells.length === 0 ? 'none' : `${bells.length}`}
            note={failing.length === 0 ? null : `${failing.length} failing`}
            bad
          />
        )}
        {parts && <PartFigure name="Wake" part={parts.wake} />}
        {parts && <PartFigure name="Dispatch" part={parts.dispatch} view="dispatch" />}
        {parts && <PartFigure name="Other machines" part={parts.link} />}
      </dl>
      {orphaned > 0 && <Orphans />}
      <h2 id="accounts">Accounts</h2>
      <ul class="accounts" aria-labelledby="accounts">
        {accounts.map((account) => (
          <AccountRow key={account.id} account={account} />
        ))}
      </ul>
    </>
  )
}

type FigureProps = { name: string; value: string; note?: string | null; bad?: boolean; view?: string | undefined }

const Figure = ({ name, value, note = null, bad = false, view }: FigureProps) => (
  <div>
    <dt>{view === undefined ? name : <a href={to(view)}>{name}</a>}</dt>
    <dd>
      {value}
      {note && (
        <span class={bad ? 'warn' : 'note'}>
          {' '}
          <Line text={note} />
        </span>
      )}
    </dd>
  </div>
)

const PartFigure = ({ name, part, view }: { name: string; part: Part; view?: string }) => (
  <Figure name={name} value={part.state} note={part.note} bad={part.state === 'trouble'} view={view} />
)

function AccountRow({ account }: { account: Shown }) {
  const { operator, account: own } = useMe()
  const { id, label, live_sessions: live, unread, session_unread = 0, oldest_unread_age_secs: oldest } = account
  return (
    <li>
      <span class="name">
        {operator || id === own ? <a href={to('mail', [id])}>{id}</a> : <strong>{id}</strong>}
        <span class="kind">{account.kind}</span>
        {label && (
          <span class="label">
            <Line text={label} />
          </span>
        )}
      </span>
      <span class={live > 0 ? 'presence live' : 'presence'}>
        {live > 0 ? (
          <a class="calm" href={to('sessions', [id])}>
            {live} live
          </a>
        ) : (
          'no live session'
        )}
        {live === 0 && account.last_seen && (
          <>
            , seen <Age at={account.last_seen} ago />
          </>
        )}
      </span>
      {unread !== undefined && (
        <span class={unread > 0 ? 'unread some' : 'unread'}>
          {unread} unread{oldest != null && `, oldest ${span(oldest)}`}
          {session_unread > 0 && `, ${session_unread} to sessions`}
        </span>
      )}
      {account.doorbell !== undefined && <Bell bell={account.doorbell} waiting={account.waiting ?? 0} />}
    </li>
  )
}

/** How the account learns of its mail: a reader that is parked, or a doorbell. */
function Bell({ bell, waiting }: { bell: AccountState['doorbell']; waiting: number }) {
  const parked = waiting > 0 ? `${waiting} waiting` : null
  if (bell === null) return <span class="bell">{parked ?? ''}</span>
  return (
    <span class="bell">
      {parked && `${parked}, `}
      {bell.last_error === null ? (
        `doorbell ${bell.last_ok === null ? 'not rung yet' : 'answers'}`
      ) : (
        <span class="warn">
          doorbell: <Line text={bell.last_error} />
        </span>
      )}
      {bell.pending > 0 && `, ${bell.pending} due`}
    </span>
  )
}
