// A list of letters, a page at a time. Rows that are out of sight are not drawn (style.css, content-visibility).
import { useRef, useState } from 'preact/hooks'
import type { Entry } from '../../../wire/overview.ts'
import type { Refused } from './api.ts'
import type { Rows } from './entries.ts'
import { again, longer, PAGE, renewed } from './growing.ts'
import { Empty, State, Trouble, Waiting } from './parts.tsx'
import { to } from './router.ts'
import { Line, short, shortSender } from './text.tsx'
import { Age } from './time.tsx'
import { useLoad } from './use-load.ts'

/** Reads one page: from `cursor` on, or from the beginning. */
export type ReadPage = (cursor: string | null, limit: number) => Promise<Rows>

type Props = { name: string; read: ReadPage; empty: string; newestFirst?: boolean }

/** `name` says what is listed, as text: another name is another list. */
export const LetterList = (props: Props) => <List key={props.name} {...props} />

function List({ name, read, empty, newestFirst = true }: Props) {
  const shown = useRef<Rows | null>(null)
  const { data, error } = useLoad(name, async () => {
    shown.current = renewed(shown.current, await read(null, again(shown.current)), newestFirst)
    return shown.current
  })
  const [longest, setLongest] = useState<Rows | null>(null)
  const [failed, setFailed] = useState<Refused | null>(null)
  // whichever was read last
  const rows = longest !== null && longest === shown.current ? longest : data
  if (rows === null) return error ? <Trouble error={error} /> : <Waiting />
  if (rows.letters.length === 0) return <Empty>{empty}</Empty>
  const more = () =>
    read(rows.cursor, PAGE).then(
      (page) => {
        setFailed(null)
        shown.current = longer(shown.current ?? rows, page)
        setLongest(shown.current)
      },
      (refused: Refused) => setFailed(refused),
    )
  return (
    <>
      <Trouble error={error ?? failed} />
      <p class="note">
        {rows.letters.length} {rows.letters.length === 1 ? 'letter' : 'letters'}
        {rows.more ? ' so far' : ''}, {newestFirst ? 'newest' : 'oldest'} first
      </p>
      <ol class="letters">
        {rows.letters.map((letter) => (
          <Row key={letter.message_id} letter={letter} />
        ))}
      </ol>
      {rows.more && (
        <button type="button" class="more" onClick={more}>
          Show more
        </button>
      )}
    </>
  )
}

function Row({ letter }: { letter: Entry }) {
  return (
    <li>
      <a class="letter-row" href={to('letter', [letter.message_id])}>
        <span class="who">
          <Line text={shortSender(letter.from_text)} />
          {letter.imported && ' (imported)'} <span class="arrow">to</span>{' '}
          <Line text={letter.to.map(short).join(', ')} />
          {letter.more_to !== undefined && ` and ${letter.more_to} more`}
        </span>
        <span class="what">
          <span class="subject">{letter.subject === '' ? 'No subject' : <Line text={letter.subject} />}</span>{' '}
          <span class="preview">
            <Line text={letter.preview.replaceAll(/\s+/g, ' ')} />
          </span>
        </span>
        <span class="state">
          {letter.state && <State state={letter.state} />}
          {letter.states && <Counts states={letter.states} />}
        </span>
        <Age at={letter.created_at} />
      </a>
    </li>
  )
}

/** One delivery is in one state; of several it is said how many are in each. */
function Counts({ states }: { states: NonNullable<Entry['states']> }) {
  const found = (['new', 'opened', 'closed'] as const).filter((state) => states[state] > 0)
  const total = states.new + states.opened + states.closed
  return (
    <>
      {found.map((state) => (
        <span key={state} class={`chip ${state}`}>
          {total > 1 && `${states[state]} `}
          {state}
        </span>
      ))}
    </>
  )
}
