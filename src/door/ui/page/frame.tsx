// The frame around every view: where one can go, whether the page is live, and what the keys do.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useFollowed } from './emitter.ts'
import { Keys } from './keys.tsx'
import { said, status } from './live.ts'
import { leave } from './login.ts'
import { useMe } from './me.ts'
import { type Place, to } from './router.ts'

export type Way = { name: string; view: string; href: string }

export function Frame({ place, children }: { place: Place; children: ComponentChildren }) {
  const { account, operator, writes } = useMe()
  const [help, setHelp] = useState(false)
  const ways: Way[] = [
    { name: 'Overview', view: '', href: to('') },
    { name: 'Your mail', view: 'mail', href: to('mail', [account]) },
    ...(operator ? [{ name: 'All mail', view: 'all', href: to('all') }] : []),
    { name: 'Sessions', view: 'sessions', href: to('sessions') },
    { name: 'Dispatch', view: 'dispatch', href: to('dispatch') },
    { name: 'Rooms', view: 'rooms', href: to('rooms') },
    { name: 'Search', view: 'search', href: to('search') },
    ...(writes ? [{ name: 'Write', view: 'write', href: to('write') }] : []),
  ]
  const here = ({ view }: Way) =>
    view === place.view && (view !== 'mail' || (place.words[0] ?? account).toLowerCase() === account.toLowerCase())
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <p class="brand">mail4agent</p>
        <Connection />
        <nav aria-label="Views">
          <ul>
            {ways.map((way) => (
              <li key={way.name}>
                <a class="way" href={way.href} aria-current={here(way) ? 'page' : undefined}>
                  {way.name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="me">
          <span>{account}</span>
          <button type="button" class="quiet" onClick={() => setHelp(true)}>
            Keys
          </button>
          <button type="button" class="quiet" onClick={() => leave()}>
            Log out
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <Announcer />
      <Keys ways={ways} open={help} setOpen={setHelp} />
    </div>
  )
}

const WORDS = { connecting: 'connecting', live: 'live', lost: 'no answer, trying again' }

function Connection() {
  const now = useFollowed(status)
  return (
    <p class={`connection ${now}`} role="status">
      {WORDS[now]}
    </p>
  )
}

/** Polite: it waits until the reader has finished its sentence. */
const Announcer = () => (
  <div class="unheard" aria-live="polite">
    {useFollowed(said)}
  </div>
)
