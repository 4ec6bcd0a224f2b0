// Reads a stream of server-sent events (HTML, server-sent events, 9.2.6) as the mailbox sends them.
import type { EventKind } from '../store/rows.ts'

/**
 * `cursor` continues after this event. A `position` tells that alone: at the beginning of a stream, and now and then while
 * nothing happens to mail that the reader may read.
 */
export type MailEvent =
  | { cursor: string; kind: EventKind; message_id: string; at: string }
  | { cursor: string; kind: 'position' }

/** The events of `stream`, positions included. */
export async function* readEvents(stream: AsyncIterable<Uint8Array>): AsyncGenerator<MailEvent> {
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
