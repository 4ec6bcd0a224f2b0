// A letter and its whole thread, oldest first; one's own new letters are opened by being shown.
import { useEffect, useState } from 'preact/hooks'
import type { Message } from '../../../wire/letter.ts'
import { mail, type Refused } from './api.ts'
import { Letter } from './letter.tsx'
import { useMe } from './me.ts'
import { Title, Trouble, Waiting } from './parts.tsx'
import { Reply } from './reply.tsx'
import { isOurs } from './text.tsx'
import { useLoad } from './use-load.ts'

const BYTES = 1_000_000

export function Thread({ id }: { id: string }) {
  const { writes } = useMe()
  const { data, error, reload } = useLoad(`thread ${id}`, () => mail('thread', { message_id: id, max_bytes: BYTES }))
  const [rest, setRest] = useState<{ id: string; messages: Message[]; cursor: string | null; more: boolean } | null>(
    null,
  )
  const [failed, setFailed] = useState<Refused | null>(null)
  const later = rest?.id === id ? rest : null
  const messages = [...(data?.messages ?? []), ...(later?.messages ?? [])]
  const more = later ? later.more : (data?.has_more ?? false)
  useOpened(messages)
  const next = () =>
    mail('thread', { message_id: id, max_bytes: BYTES, cursor: later?.cursor ?? data?.cursor ?? null }).then(
      (page) =>
        setRest({
          id,
          messages: [...(later?.messages ?? []), ...page.messages],
          cursor: page.cursor,
          more: page.has_more,
        }),
      (refused: Refused) => setFailed(refused),
    )
  const named = messages.find((message) => message.message_id === id) ?? messages.at(-1)
  const subject = messages[0]?.subject ?? ''
  return (
    <>
      {data !== null && <Title text={plain(subject) || 'No subject'} />}
      {error !== null && data === null && <Title text="Letter" />}
      <Trouble error={error ?? failed} />
      {data === null && !error && <Waiting />}
      <div class="thread">
        {messages.map((message) => (
          <Letter
            key={message.message_id}
            message={message}
            about={message === messages[0] || bare(message.subject) === bare(subject) ? null : message.subject}
            here={message.message_id === id}
            changed={reload}
          />
        ))}
      </div>
      {more && (
        <button type="button" class="more" onClick={next}>
          Show more of the thread
        </button>
      )}
      {named && writes && !isOurs(named.from_text) && <Reply key={named.message_id} to={named} sent={reload} />}
      {named && isOurs(named.from_text) && <p class="note">The mailbox wrote this itself. It reads no mail.</p>}
    </>
  )
}

/** A heading is also the title of the window: nothing unseen goes there. */
const plain = (subject: string): string => subject.replaceAll(/[\p{Cc}\p{Cf}]/gu, '')

/** What it is about, without the sign of a reply. */
const bare = (subject: string): string => subject.replace(/^re:\s*/i, '')

/** Who has a new letter on the screen has opened it. */
function useOpened(messages: readonly Message[]): void {
  const fresh = messages.filter((message) => message.state === 'new').map((message) => message.message_id)
  const key = fresh.join(' ')
  useEffect(() => {
    for (const message_id of fresh) void mail('get', { message_id }).catch(() => {})
  }, [key])
}
