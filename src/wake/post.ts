// One POST of JSON to an address of the owner: one attempt, eight seconds, no redirect, no proxy; what fails names neither address nor key.
import { isLoopbackHost } from '../wire/loopback.ts'

const LONGEST = 2_048
const WAIT_MS = 8_000
/** Bytes of an answer that are looked at. */
const ANSWER = 65_536

export type Target = { url: string; headers: Readonly<Record<string, string>>; consent: boolean }
export type Posted = { ok: true; status: number; body: string } | { ok: false; why: string }

/** Why letters are not sent there; null: they may be. Off this machine only with https, and where the owner says so. */
export function addressFault({ url, consent }: Pick<Target, 'url' | 'consent'>): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
  if (Buffer.byteLength(url) > LONGEST || /[\u0000-\u0020\u007f]/.test(url) || !URL.canParse(url))
    return 'its address is none'
  const { protocol, username, password, hostname } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') return 'its address is neither http nor https'
  if (username !== '' || password !== '') return 'its address names a user'
  if (isLoopbackHost(hostname)) return null
  if (protocol !== 'https:') return 'its address is off this machine and not https'
  return consent ? null : 'its address is off this machine, and "consent": true does not stand beside it'
}

export async function postOnce(target: Target, body: object, signal: AbortSignal): Promise<Posted> {
  const fault = addressFault(target)
  if (fault !== null) return { ok: false, why: fault }
  try {
    const response = await fetch(target.url, {
      method: 'POST',
      headers: { ...target.headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'manual',
      proxy: '',
      signal: AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]),
    })
    const text = await response.text()
    if (response.status < 200 || response.status > 299) return { ok: false, why: `it answered ${response.status}` }
    return { ok: true, status: response.status, body: text.slice(0, ANSWER) }
  } catch (error) {
    const isLate = error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')
    return { ok: false, why: isLate ? 'it did not answer in time' : 'it could not be reached' }
  }
}
