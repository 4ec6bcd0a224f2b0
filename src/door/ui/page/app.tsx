// The page: its frame, and which view stands in it. Without a login there is only how to get one.
import { useEffect } from 'preact/hooks'
import { mail } from './api.ts'
import { SessionCard } from './card.tsx'
import { OneDispatch } from './dispatch.tsx'
import { Dispatches } from './dispatches.tsx'
import { useFollowed } from './emitter.ts'
import { Frame } from './frame.tsx'
import { Gate } from './gate.tsx'
import { followEvents } from './live.ts'
import { login } from './login.ts'
import { Mailbox, Traffic } from './mailbox.tsx'
import { Me, useMe } from './me.ts'
import { Overview } from './overview.tsx'
import { Empty, Title, Trouble } from './parts.tsx'
import { Rooms } from './rooms.tsx'
import { type Place, place } from './router.ts'
import { Search } from './search.tsx'
import { Sessions } from './sessions.tsx'
import { Thread } from './thread.tsx'
import { useTicking } from './time.tsx'
import { useLoad } from './use-load.ts'
import { Write } from './write.tsx'

export function App() {
  const entered = useFollowed(login)
  return entered === null ? <Gate /> : <Inside key={entered.key} />
}

function Inside() {
  useTicking()
  useEffect(followEvents, [])
  const { data, error } = useLoad('me', () => mail('whoami', {}))
  const where = useFollowed(place)
  return (
    <Me.Provider value={data}>
      <Frame place={where}>
        <Trouble error={error} />
        {data && <View place={where} />}
      </Frame>
    </Me.Provider>
  )
}

function View({ place: { view, words, query } }: { place: Place }) {
  const { account } = useMe()
  const [first, second] = words
  switch (view) {
    case '':
      return <Overview />
    case 'mail':
      return <Mailbox account={first || account} state={query.get('state') ?? 'open'} />
    case 'all':
      return <Traffic />
    case 'letter':
      return <Thread id={first ?? ''} />
    case 'sessions':
      return second === undefined ? (
        <Sessions account={first ?? null} />
      ) : (
        <SessionCard account={first ?? ''} id={second} />
      )
    case 'dispatch':
      return /^\d{1,15}$/.test(first ?? '') ? (
        <OneDispatch key={first} id={Number(first)} />
      ) : (
        <Dispatches failed={query.get('show') === 'failed'} agent={query.get('to') ?? ''} />
      )
    case 'rooms':
      return <Rooms />
    case 'search':
      return <Search key={query.get('q')} query={query.get('q') ?? ''} />
    case 'write':
      return <Write key={query.get('to')} to={query.get('to') ?? ''} />
    default:
      return (
        <>
          <Title text="Not found" />
          <Empty>There is no such view.</Empty>
        </>
      )
  }
}
