// The page's files as answers. Whoever asks gets them: they hold no mail, and nothing in them says who you are.
import { Refusal } from '../../wire/refusal.ts'
import type { Door } from '../http/door.ts'
import { headers } from '../http/reply.ts'
import { assetNamed } from './assets.ts'

/**
 * CSP 3: nothing but our own script and style, calls to this very origin, and no page around ours. The other headers keep
 * the page's address to itself and its window apart from windows that opened it.
 */
const SAFE = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
}

/**
 * `name`: a file below /ui/, or the page. Null where there is no such file.
 * @throws Refusal `attestation_down` where nobody could use the page
 */
export async function staticAnswer(door: Door, request: Request, name: string): Promise<Response | null> {
  const { attestation } = door.health
  if (!attestation.ok) throw new Refusal('attestation_down', 'no caller can be proved', { reason: attestation.reason })
  const asset = await assetNamed(name)
  if (!asset) return null
  return new Response(asset.body, { headers: headers(request, { ...SAFE, 'content-type': asset.type }) })
}
