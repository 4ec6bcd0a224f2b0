// Doors of the owner on this machine: a program that is given the letter, and files in a folder. Off unless set up.
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, statSync, writeSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { notReady, type Probe, ready, type WakeAdapter, type WakeLetter, type WakeTarget, woken } from '../adapter.ts'
import { NOTHING, ownerDoor } from '../owner.ts'
import { runProgram } from '../spawn.ts'

type Place = { dataDir: string; env: Readonly<Record<string, string | undefined>> }

const forAccount = ({ session }: WakeTarget): boolean => session === null

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
      return notReady(typeof why === 'string' ? why : NOTHING)
    },
    async wake(target, letter) {
      const path = folder(target)
      if (path === null) return woken('refused', NOTHING)
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
