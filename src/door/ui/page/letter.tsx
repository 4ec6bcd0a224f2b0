// One letter: who wrote to whom, what it says, what became of it, and what its reader can do with it.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Message } from '../../../wire/letter.ts'
import { mail, type Refused } from './api.ts'
import { State, Trouble } from './parts.tsx'
import { Receipts } from './receipts.tsx'
import { to } from './router.ts'
import { Body, isOurs, Line, short, shortSender } from './text.tsx'
import { Age } from './time.tsx'

const WHY_QUIET: Readonly<Record<string, string>> = {
  hop: 'too many hops',
  rate: 'too many letters',
  peer: 'its machine may wake nobody here',
  history: 'it was there before this mailbox saw its room',
}

/** `about`: its subject, where that is not the thread's; `here`: the one that the address names. */
type Props = { message: Message; about: string | null; here: boolean; changed: () => void }

export function Letter({ message, about, here, changed }: Props) {
  const article = useRef<HTMLElement>(null)
  const [whole, setWhole] = useState<string | null>(null)
  const [failed, setFailed] = useState<Refused | null>(null)
  useEffect(() => {
    if (here) article.current?.scrollIntoView({ block: 'nearest' })
  }, [here])
  const id = message.message_id
  const done = (call: Promise<unknown>) => call.then(changed, (refused: Refused) => setFailed(refused))
  const readWhole = () =>
    mail('get', { message_id: id, peek: true }).then(
      ({ body }) => setWhole(body),
      (refused: Refused) => setFailed(refused),
    )
  return (
    <article class={here ? 'letter here' : 'letter'} ref={article} aria-label={`Letter from ${message.from_text}`}>
      <header>
        <div class="who">
          <Sender address={message.from_text} /> <span class="arrow">to</span>{' '}
          <Line text={(message.recipients ?? [message.to_text]).map(short).join(', ')} />
        </div>
        <div class="facts">
          {message.state && <State state={message.state} />}
          <Age at={message.created_at} />
        </div>
        {message.imported !== undefined && (
          <p class="note">imported from {message.imported.source}: the sender was not proved here</p>
        )}
        {message.on_behalf_of !== undefined && (
          <p class="note">
            on behalf of <Line text={message.on_behalf_of} />, as the sender says
          </p>
        )}
        {message.claimed_by !== undefined && <p class="note">claimed by {short(message.claimed_by)}</p>}
        {message.wake_suppressed !== undefined && (
          <p class="note">wakes nobody: {WHY_QUIET[message.wake_suppressed] ?? message.wake_suppressed}</p>
        )}
      </header>
      {about && (
        <p class="subject">
          <Line text={about} />
        </p>
      )}
      <Body text={whole ?? message.body} />
      {message.body_truncated && whole === null && (
        <button type="button" onClick={readWhole}>
          Show all {message.body_bytes} bytes
        </button>
      )}
      <Trouble error={failed} />
      <footer>
        {(message.state === 'new' || message.state === 'opened') && (
          <button type="button" onClick={() => done(mail('close', { message_id: id }))}>
            Close
          </button>
        )}
        {message.state === 'closed' && (
          <button type="button" onClick={() => done(mail('reopen', { message_id: id }))}>
            Reopen
          </button>
        )}
        <Receipts message={message} />
        <code class="id">{id}</code>
      </footer>
    </article>
  )
}

/** The session that wrote leads to its card. */
function Sender({ address }: { address: string }) {
  const [account = '', session] = address.split('/')
  if (session === undefined || isOurs(address)) return <Line text={shortSender(address)} />
  return (
    <a href={to('sessions', [account, session])}>
      <Line text={short(address)} />
    </a>
  )
}
