// Where a doorbell may ring: a port of this machine's own loopback and nothing else; asked again before each ring.
import { checkListenerUrl } from '../engine/admin/listeners.ts'

export type Target = {
  readonly port: number
  /** Path and query, percent-encoded, as they go into the request line. */
  readonly path: string
  /** The Host header. */
  readonly host: string
}

/**
 * What to dial for a listener's URL. The port is dialled on the literal 127.0.0.1, whichever name the URL has.
 * @throws Refusal where the URL is none that may be rung
 */
export function targetOf(url: string, ownPort: number): Target {
  const port = checkListenerUrl(url, ownPort)
  const { pathname, search, host } = new URL(url)
  return { port, path: pathname + search, host }
}
