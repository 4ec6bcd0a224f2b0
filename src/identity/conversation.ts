// Which of a process's conversations a call belongs to. A conversation narrows within an attested process and never crosses it.
import type { Attestor, Process } from '../attest/attestor.ts'
import { LIMITS } from '../wire/limits.ts'
import { bytes } from '../wire/text.ts'
import { CLIENTS } from './clients.ts'
import type { Said } from './corroborate.ts'
import type { Holder } from './holders.ts'
import type { Recognised } from './recognised.ts'
import { openThreads } from './records.ts'

/** A process with more conversations than this has no further ones: the key is the client's word, and costs a row. */
const MOST = 256
const KEY = /^[\x21-\x7e]+$/
const VARIABLES = [...CLIENTS.values()].flatMap(({ conversation }) => conversation ?? [])

/** The key that a request names, where it can be one; an odd or surplus key is none. */
export function saidKey(said: Said, holder: Holder): string | null {
  const key = said.conversation?.key
  if (key === undefined || !KEY.test(key) || bytes(key) > LIMITS.key) return null
  const { conversations, registering } = holder
  const known = conversations.has(key) || registering.has(key)
  return known || conversations.size + registering.size < MOST ? key : null
}

/**
 * For a call that names no conversation: the one that the caller's environment names, if the anchor has that one; else the
 * only one it has; else none, and the process's own session is meant. An environment is inherited, also from an agent
 * further out, so that it chooses among the anchor's conversations and never adds one.
 */
export function impliedConversation(
  attestor: Attestor,
  caller: Process,
  anchor: Process,
  recognised: Recognised | null,
  holder: Holder,
): string | null {
  const open = recognised === null ? [] : openThreads(attestor, recognised.client, anchor)
  const known = new Set([...holder.conversations.keys(), ...open])
  if (known.size === 0) return null
  if (caller.pid !== anchor.pid)
    for (const named of Object.values(attestor.environment(caller, VARIABLES))) if (known.has(named)) return named
  const [only] = known
  return known.size === 1 && only !== undefined ? only : null
}
