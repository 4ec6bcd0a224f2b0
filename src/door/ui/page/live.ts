// What happens in the mailbox, as it happens: the event stream, read with fetch because EventSource cannot send a key.
import { Refused, reach, refusedOf } from './api.ts'
import { Followed } from './emitter.ts'
import { login } from './login.ts'

export type Status = 'connecting' | 'live' | 'lost'

export const status = new Followed<Status>('connecting')
/** Counts up when something has changed; lists are read again then. */
export const changes = new Followed(0)
/** What a screen reader is told. */
export const said = new Followed('')

/** Milliseconds: many changes at once are one. */
const GATHER_MS = 200
const RETRY_MS = [300, 1_000, 2_000, 5_000]

let cursor: string | null = null

/** Follows the stream until the function that is returned is called. */
export function followEvents(): () => void {
  const stop = new AbortController()
  cursor = null
  void run(stop.signal)
  return () => stop.abort()
}

async function run(signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      await stream(signal, () => {
        if (failures > 0) change(0) // what was missed
        failures = 0
        status.set('live')
      })
    } catch (error) {
      if (signal.aborted) return
      // a store that was restored counts anew: everything is read again
      if (error instanceof Refused && error.kind === 'cursor_expired') cursor = null
    }
    if (signal.aborted || login.value === null) return
    status.set('lost')
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]))
  }
}

async function stream(signal: AbortSignal, connected: () => void): Promise<void> {
  const headers: Record<string, string> = { authorization: `Bearer ${login.value?.key ?? ''}` }
  if (cursor !== null) headers['last-event-id'] = cursor
  const response = await reach('/events', { headers, signal })
  if (!response.ok) throw await refusedOf(response)
  connected()
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  let rest = ''
  while (reader) {
    const { done, value } = await reader.read()
    if (done) return
    const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) take(block)
  }
}

/** HTML, server-sent events, 9.2.6: an event without data only moves the position. */
function take(block: string): void {
  cursor = /^id: (.+)$/m.exec(block)?.[1] ?? cursor
  const kind = /^event: (.+)$/m.exec(block)?.[1]
  if (kind !== undefined) change(kind === 'sent' ? 1 : 0)
}

let gathering = false
let letters = 0

function change(sent: number): void {
  letters += sent
  if (gathering) return
  gathering = true
  setTimeout(() => {
    gathering = false
    if (letters > 0) said.set(letters === 1 ? 'A letter was sent' : `${letters} letters were sent`)
    letters = 0
    changes.set(changes.value + 1)
  }, GATHER_MS)
}
