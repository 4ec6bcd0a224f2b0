// Doors of the owner: a program that is given the letter, files in a folder, a webhook, a routine of Claude. Off unless set up.
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, statSync, writeSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { notReady, type Probe, ready, type WakeAdapter, type WakeLetter, type WakeTarget, woken } from '../adapter.ts'
import { type OwnerDoors, ownerDoor } from '../owner.ts'
import { addressFault, postOnce } from '../post.ts'
import { runProgram } from '../spawn.ts'
import { webhookHeaders } from '../webhook-headers.ts'

type Place = { dataDir: string; env: Readonly<Record<string, string | undefined>> }

const forAccount = ({ session }: WakeTarget): boolean => session === null
const nickOf = (address: string): string => address.split('/')[0] ?? address

/** Milliseconds that the program may take. */
const HOOK_MS = 10_000

/** Exit 0 means that it has taken the letter. The letter is on its standard input; its arguments are the owner's alone. */
export function letterHook({ dataDir, env }: Place): WakeAdapter {
  const words = ({ account }: WakeTarget) => ownerDoor(dataDir, account, 'letter_hook')
  return {
    id: 'letter-hook',
    tier: 'armed',
    optIn: false,
    serves: forAccount,
    async probe(target) {
      const program = words(target)
      if (typeof program === 'string') return notReady(program)
      const path = program[0] ?? ''
      if (!isAbsolute(path)) return notReady('its program is no absolute path')
      return statSync(path, { throwIfNoEntry: false })?.isFile() === true
        ? ready()
        : notReady('its program is not there')
    },
    async wake(target, letter, signal) {
      const program = words(target)
      if (typeof program === 'string') return woken('refused', program)
      const limit = AbortSignal.any([signal, AbortSignal.timeout(HOOK_MS)])
      const input = `${JSON.stringify(hookInput(target, letter))}\n`
      const { code } = await runProgram(program, { env, cwd: dataDir, input }, limit)
      if (limit.aborted) return woken('refused', 'the program did not end in time')
      // it has taken it; whether it starts a turn is its own matter
      return code === 0 ? woken('queued', 'the program took it') : woken('refused', `the program ended with ${code}`)
    },
  }
}

function hookInput(target: WakeTarget, { id, to, room, text, letter, count }: WakeLetter) {
  return {
    event_id: id,
    nick: target.account,
    session_id: to.includes('/') ? to.slice(to.indexOf('/') + 1) : null,
    provider: target.provider,
    from: letter?.from ?? null,
    to,
    room,
    subject: letter?.subject ?? null,
    body: letter?.body ?? null,
    count,
    text,
  }
}

/** A file for each wake: 0600 in a folder of its own, whole or not at all. */
export function spool({ dataDir }: Place): WakeAdapter {
  const folder = ({ account }: WakeTarget): string | null => {
    const set = ownerDoor(dataDir, account, 'spool')
    if (set === true) return join(dataDir, 'spool', account.replace(/^\./, '%2e'))
    return set.startsWith('/') ? set : null
  }
  return {
    id: 'spool',
    tier: 'spool',
    optIn: false,
    serves: forAccount,
    probe: async (target): Promise<Probe> => {
      if (folder(target) !== null) return ready()
      const why = ownerDoor(dataDir, target.account, 'spool')
      return notReady(typeof why === 'string' ? why : 'nothing is set up')
    },
    async wake(target, letter) {
      const path = folder(target)
      if (path === null) return woken('refused', 'nothing is set up')
      mkdirSync(path, { recursive: true, mode: 0o700 })
      const file = join(path, `${letter.id}.json`)
      const part = join(path, `.${letter.id}.${crypto.randomUUID()}.part`)
      const fd = openSync(part, 'wx', 0o600)
      try {
        writeSync(fd, `${JSON.stringify(hookInput(target, letter))}\n`)
        fsyncSync(fd)
      } finally {
        closeSync(fd)
      }
      renameSync(part, file)
      return woken('stored', 'in a file of its folder')
    },
  }
}

type Webhook = NonNullable<OwnerDoors['webhook']>

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

/** `other`: an address that was found elsewhere, such as at a gateway; the file of the owner goes first. */
export function webhook({ dataDir }: Place, other: (account: string) => Webhook | null): WakeAdapter {
  const set = ({ account }: WakeTarget): Webhook | string => {
    const own = ownerDoor(dataDir, account, 'webhook')
    return typeof own === 'string' ? (other(account) ?? own) : own
  }
  return {
    id: 'routine-webhook',
    tier: 'armed',
    optIn: false,
    serves: forAccount,
    async probe(target) {
      const hook = set(target)
      if (typeof hook === 'string') return notReady(hook)
      const fault = addressFault({ url: hook.url, consent: hook.consent ?? false })
      return fault === null ? ready() : notReady(fault)
    },
    async wake(target, letter, signal) {
      const hook = set(target)
      if (typeof hook === 'string') return woken('refused', hook)
      const { url, key, consent = false } = hook
      const body = webhookBody(target, letter, `mail4agent reply ${letter.id} -`)
      const posted = await postOnce({ url, consent, headers: webhookHeaders(key) }, body, signal)
      return posted.ok ? woken('queued', `the routine answered ${posted.status}`) : woken('refused', posted.why)
    },
  }
}

/** Starts a new session in Anthropic's cloud: only where none of the account runs here. */
export function claudeRoutine({ dataDir }: Place): WakeAdapter {
  const set = ({ account }: WakeTarget) => ownerDoor(dataDir, account, 'claude_routine')
  return {
    id: 'claude-routine',
    tier: 'spawn',
    optIn: false,
    serves: forAccount,
    async probe(target) {
      const routine = set(target)
      if (typeof routine === 'string') return notReady(routine)
      if (target.attended) return notReady('a session of the account runs here')
      const fault = addressFault({ url: routine.url, consent: routine.consent ?? false })
      return fault === null ? ready() : notReady(fault)
    },
    async wake(target, letter, signal) {
      const routine = set(target)
      if (typeof routine === 'string') return woken('refused', routine)
      const headers = {
        authorization: `Bearer ${routine.key}`,
        'anthropic-version': '2023-06-01',
        'anthropic-beta': routine.beta ?? 'experimental-cc-routine-2026-04-01',
      }
      const to = { url: routine.url, consent: routine.consent ?? false, headers }
      const posted = await postOnce(to, { text: letter.text }, signal)
      return posted.ok ? woken('queued', `the routine answered ${posted.status}`) : woken('refused', posted.why)
    },
  }
}

/** Tasks of Codex in the cloud take no messages, and a letter is no reason to begin one. */
export const codexCloud: WakeAdapter = {
  id: 'codex-cloud',
  tier: 'spawn',
  optIn: true,
  serves: ({ session, provider }) => session === null && provider === 'codex',
  probe: async () => notReady('tasks of Codex in the cloud take no messages from outside'),
  wake: async () => woken('refused', 'tasks of Codex in the cloud take no messages from outside'),
}
