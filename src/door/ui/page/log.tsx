// What an attempt printed, read on demand and on to its end; of a running one it goes on. It is the agent's text: never markup.
import { useEffect, useState } from 'preact/hooks'
import { mail, type Refused } from './api.ts'
import { Trouble } from './parts.tsx'
import { Body } from './text.tsx'

type Stream = 'out' | 'err'
/** Characters that are kept on the page: the end is what one looks for. */
const MOST = 400_000
const LOOK_MS = 700

export function Log({ dispatch, attempt, running }: { dispatch: number; attempt: number; running: boolean }) {
  const [stream, setStream] = useState<Stream | null>(null)
  const choose = (one: Stream) => setStream(stream === one ? null : one)
  return (
    <>
      <div class="line">
        {(['out', 'err'] as const).map((one) => (
          <button key={one} type="button" aria-expanded={stream === one} onClick={() => choose(one)}>
            {one === 'out' ? 'Output' : 'Errors'}
            <span class="unheard"> of attempt {attempt}</span>
          </button>
        ))}
      </div>
      {stream !== null && (
        <Printed key={stream} dispatch={dispatch} attempt={attempt} stream={stream} running={running} />
      )}
    </>
  )
}

type Props = { dispatch: number; attempt: number; stream: Stream; running: boolean }

function Printed({ dispatch, attempt, stream, running }: Props) {
  const [log, setLog] = useState<{ text: string; offset: number; cut: boolean; read: boolean }>(NOTHING)
  const [error, setError] = useState<Refused | null>(null)
  useEffect(() => {
    let gone = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const read = async (offset: number): Promise<void> => {
      const part = await mail('dispatch_logs', { id: dispatch, attempt, stream, offset })
      if (gone) return
      setError(null)
      setLog((before) => grown(before, part))
      if (part.has_more) return read(part.offset)
      if (part.running) timer = setTimeout(() => void again(part.offset), LOOK_MS)
    }
    const again = (offset: number): Promise<void> =>
      read(offset).catch((refused: Refused) => {
        if (gone) return
        setError(refused)
        if (running) timer = setTimeout(() => void again(offset), LOOK_MS)
      })
    void again(log.offset)
    return () => {
      gone = true
      clearTimeout(timer)
    }
  }, [dispatch, attempt, stream, running])
  const name = `${stream === 'out' ? 'Output' : 'Errors'} of attempt ${attempt}`
  return (
    <>
      <Trouble error={error} />
      {log.cut && <p class="note">The beginning is left out; all of it: mail4agent dispatch logs {dispatch}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard (WCAG 2.2, 2.1.1) */}
      <section class="output" aria-label={name} tabIndex={0}>
        {log.text === '' ? (
          <p class="absent">{log.read ? 'It printed nothing.' : 'Reading…'}</p>
        ) : (
          <Body text={log.text} />
        )}
      </section>
    </>
  )
}

const NOTHING = { text: '', offset: 0, cut: false, read: false }

function grown(before: typeof NOTHING, part: { text: string; offset: number }): typeof NOTHING {
  if (part.offset < before.offset || (part.offset === before.offset && before.read)) return before
  const text = before.text + part.text
  const cut = text.length > MOST
  return {
    text: cut ? text.slice(text.length - MOST).toWellFormed() : text,
    offset: part.offset,
    cut: cut || before.cut,
    read: true,
  }
}
