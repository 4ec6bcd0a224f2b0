// Reads a stream of server-sent events (HTML, server-sent events, 9.2.6) as the mailbox sends them.
import type { DispatchEvent, MailEvent } from '../wire/events.ts'

/**
 * `cursor` continues after this event. A `position` tells that alone: at the beginning of a stream, and now and then while
 * nothing happens that the reader may see.
 */
export type Event = { cursor: string } & (MailEvent | DispatchEvent | { kind: 'position' })

/** The events of `stream`, positions included. */
export async function* readEvents(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Event> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of stream) {
    const blocks = (rest + decoder.decode(piece, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map(fieldOf))
      const data = fields.get('data')
      const cursor = fields.get('id')
      if (data !== undefined) yield { cursor: cursor ?? '', ...JSON.parse(data) }
      else if (cursor !== undefined) yield { cursor, kind: 'position' }
    }
  }
}

function fieldOf(line: string): [string, string] {
  const colon = line.indexOf(': ')
  return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 2)]
}
