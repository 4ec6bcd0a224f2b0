// opencode that listens (`--port`, `serve`): its own route that takes a prompt and does not wait for the turn.
import { notReady, ready, type WakeAdapter, type WakeTarget, woken } from '../adapter.ts'
import { askLoopback, isObject } from '../loopback.ts'
import { argumentsOf, optionOf } from '../process.ts'

const ID = /^ses_[A-Za-z0-9]{8,64}$/
/** A cold one needs some three seconds. */
const PROOF_MS = 5_000

/** The port that it was told to listen on; one that it chose itself is not seen. */
function portOf(target: WakeTarget): number | null {
  const port = Number(optionOf(argumentsOf(target), '--port'))
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : null
}

/** Basic authentication where its user has set a password. */
function headersOf({ environment }: WakeTarget): Record<string, string> {
  const { OPENCODE_SERVER_PASSWORD: password, OPENCODE_SERVER_USERNAME: user = 'opencode' } = environment
  return password ? { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` } : {}
}

export const opencodeServer: WakeAdapter = {
  id: 'opencode-server',
  tier: 'session',
  optIn: false,
  serves: (target) => target.provider === 'opencode' && target.session !== null,
  async probe(target, signal) {
    const port = portOf(target)
    if (port === null) return notReady('it does not listen on a port')
    const session = await sessionOf(target, port, signal)
    if (session === null) return notReady('which of its sessions is meant is not known')
    return ready(await isBusy(target, port, session, signal))
  },
  async wake(target, letter, signal) {
    const port = portOf(target)
    const session = port === null ? null : await sessionOf(target, port, signal)
    if (port === null || session === null) return woken('refused', 'it has gone')
    const busy = await isBusy(target, port, session, signal)
    const body = { parts: [{ type: 'text', text: letter.text }] }
    const { status } = await askLoopback(
      port,
      'POST',
      `/session/${session}/prompt_async`,
      headersOf(target),
      body,
      signal,
    )
    if (status !== 204 && status !== 200) return woken('refused', `it answered ${status}`)
    if (busy) return woken('queued', 'it is at work; the prompt comes within that')
    for (const end = Date.now() + PROOF_MS; Date.now() < end; await Bun.sleep(50))
      if (await isBusy(target, port, session, signal)) return woken('started', 'a turn began')
    return woken('queued', 'accepted; no turn was seen to begin yet')
  },
}

/** The one of its command line or its record; else, where it has one alone, that. */
async function sessionOf(target: WakeTarget, port: number, signal: AbortSignal): Promise<string | null> {
  const named = target.conversation ?? target.providerSession
  if (named !== null) return ID.test(named) ? named : null
  const { body } = await askLoopback(port, 'GET', '/session', headersOf(target), null, signal)
  const ids = (Array.isArray(body) ? body : []).flatMap((one: unknown) =>
    isObject(one) && typeof one.id === 'string' && one.parentID === undefined && one.directory === target.cwd
      ? [one.id]
      : [],
  )
  const [only] = ids
  return ids.length === 1 && only !== undefined && ID.test(only) ? only : null
}

/** Absent in the answer: idle. */
async function isBusy(target: WakeTarget, port: number, session: string, signal: AbortSignal): Promise<boolean> {
  const { body } = await askLoopback(port, 'GET', '/session/status', headersOf(target), null, signal)
  const status = isObject(body) ? body[session] : undefined
  return isObject(status) && status.type === 'busy'
}
