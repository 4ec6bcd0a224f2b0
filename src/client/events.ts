// Reads a stream of server-sent events (HTML, server-sent events, 9.2.6) as the mailbox sends them.
import type { EventKind } from '../store/rows.ts'

/** `cursor` continues after this event. */
export type MailEvent = { cursor: string; kind: EventKind; message_id: string; at: string }

/** The events of `stream`; heartbeats and positions are passed over. */
export async function* readEvents(stream: AsyncIterable<Uint8Array>): AsyncGenerator<MailEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of stream) {
    const blocks = (rest + decoder.decode(piece, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map(fieldOf))
      const data = fields.get('data')
      if (data !== undefined) yield { cursor: fields.get('id') ?? '', ...JSON.parse(data) }
    }
  }
}

function fieldOf(line: string): [string, string] {
  const colon = line.indexOf(': ')
  return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 2)]
}
