// Doors of the owner that post to an address with a key: a webhook, a routine of Claude; and Codex in the cloud, which has none.
import { notReady, ready, type WakeAdapter, type WakeLetter, type WakeTarget, woken } from '../adapter.ts'
import { NOTHING, type OwnerDoors } from '../owner.ts'
import { addressFault, postOnce } from '../post.ts'
import { type KeyPlace, keyedDoor } from '../secrets.ts'
import { webhookHeaders } from '../webhook-headers.ts'

type Webhook = NonNullable<OwnerDoors['webhook']>
type Routine<D> = {
  id: string
  tier: WakeAdapter['tier']
  /** A text says why there is none, or why not now. */
  find(target: WakeTarget): D | string
  request(door: D, target: WakeTarget, letter: WakeLetter): { headers: Record<string, string>; body: object }
}

const nickOf = (address: string): string => address.split('/')[0] ?? address
const forAccount = ({ session }: WakeTarget): boolean => session === null

/** One POST to what is found at that moment. */
function posting<D extends { url: string; consent?: boolean }>({ id, tier, find, request }: Routine<D>): WakeAdapter {
  return {
    id,
    tier,
    optIn: false,
    serves: forAccount,
    async probe(target) {
      const door = find(target)
      if (typeof door === 'string') return notReady(door)
      const fault = addressFault({ url: door.url, consent: door.consent ?? false })
      return fault === null ? ready() : notReady(fault)
    },
    async wake(target, letter, signal) {
      const door = find(target)
      if (typeof door === 'string') return woken('refused', door)
      const { headers, body } = request(door, target, letter)
      const posted = await postOnce({ url: door.url, consent: door.consent ?? false, headers }, body, signal)
      return posted.ok ? woken('queued', `the routine answered ${posted.status}`) : woken('refused', posted.why)
    },
  }
}

/** What a routine is told. `body` is the letter as it was written: the owner has placed the address for that. */
export function webhookBody(
  target: WakeTarget,
  { id, to, room, letter }: WakeLetter,
  reply: string,
): Record<string, string> {
  const from = letter?.from ?? 'mail4agent'
  const members = {
    body: letter?.body ?? 'a test of how you are woken; no letter has come',
    from,
    event_id: id,
    nick: nickOf(from),
    room: room ?? '',
    from_nick: nickOf(from),
    to: nickOf(to) || target.account,
    reply: letter === null ? '' : reply,
  }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value.trim() !== ''))
}

/**
 * `other`: an address that was found elsewhere, such as at a gateway; what the owner set up goes first, also where it cannot
 * be read: nobody meant the letter for another place then.
 */
export const webhook = (place: KeyPlace, other: (account: string) => Webhook | null): WakeAdapter =>
  posting<Webhook>({
    id: 'routine-webhook',
    tier: 'armed',
    find({ account }) {
      const own = keyedDoor(place, account, 'webhook')
      if (own.door !== null) return own.door
      return own.why === NOTHING ? (other(account) ?? own.why) : own.why
    },
    request: ({ key }, target, letter) => ({
      headers: webhookHeaders(key),
      body: webhookBody(target, letter, `mail4agent reply ${letter.id} -`),
    }),
  })

/** Starts a new session in Anthropic's cloud: only where none of the account runs here. */
export const claudeRoutine = (place: KeyPlace): WakeAdapter =>
  posting<NonNullable<OwnerDoors['claude_routine']>>({
    id: 'claude-routine',
    tier: 'spawn',
    find({ account, attended }) {
      const own = keyedDoor(place, account, 'claude_routine')
      if (own.door === null) return own.why
      return attended ? 'a session of the account runs here' : own.door
    },
    request: ({ key, beta = 'experimental-cc-routine-2026-04-01' }, _target, { text }) => ({
      headers: { authorization: `Bearer ${key}`, 'anthropic-version': '2023-06-01', 'anthropic-beta': beta },
      body: { text },
    }),
  })

/** Tasks of Codex in the cloud take no messages, and a letter is no reason to begin one. */
export const codexCloud: WakeAdapter = {
  id: 'codex-cloud',
  tier: 'spawn',
  optIn: true,
  serves: ({ session, provider }) => session === null && provider === 'codex',
  probe: async () => notReady('tasks of Codex in the cloud take no messages from outside'),
  wake: async () => woken('refused', 'tasks of Codex in the cloud take no messages from outside'),
}
