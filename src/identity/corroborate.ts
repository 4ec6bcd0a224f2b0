// The corroborated group of a card: what the process shows and what its client says, each value with its source.
import type { Attestor, Process } from '../attest/attestor.ts'
import type { Corroborated } from '../wire/card.ts'
import { LIMITS } from '../wire/limits.ts'
import { cutFact } from '../wire/text.ts'
import { modelName, readArguments } from './arguments.ts'
import { CLIENTS, type Client } from './clients.ts'
import type { Recognised } from './recognised.ts'
import { openThreads, recordedSession } from './records.ts'

/** What a caller says with a request. It labels and narrows; it proves nothing. */
export type Said = {
  /** `of`: the client whose word it is; one without is taken from any process. */
  conversation?: { key: string; source: 'meta'; of?: 'vscode' } | undefined
  client?: { name: string; version: string } | undefined
  /** The client's session begins or was changed a moment ago: what is known of it is read again. */
  anew?: true | undefined
}

export type Facts = {
  corroborated: Corroborated
  /** The provider's session id that the client's own record or its command line shows; only this may inherit a mailbox. */
  proved: string | null
}

type Fact = { value: string; source: 'proc' | 'argv' | 'environ' | 'record' | 'meta' | 'client' }

/**
 * Collects the facts of one session. `conversation` is the key of the session, null for the process's own.
 * Long values are cut and odd ones dropped; nothing here refuses.
 */
export function corroborate(
  attestor: Attestor,
  process: Process,
  recognised: Recognised | null,
  conversation: string | null,
  said: Said,
): Facts {
  const known = recognised === null ? undefined : CLIENTS.get(recognised.client)
  const args = known ? readArguments(known, process) : { model: null, session: null }
  // what only calls itself a client could write any record and any argument
  const genuine = recognised !== null && recognised.by !== 'name' && (conversation !== null || !known?.keyed)
  const proof = genuine ? proofOf(attestor, recognised.client, process, conversation, args.session) : null
  const session: Fact | null =
    proof ?? (conversation === null ? fact(args.session, 'argv') : { value: conversation, source: 'meta' })
  const facts: Record<'provider' | 'provider_session_id' | 'conversation' | 'model' | 'cwd', Fact | null> = {
    provider: fact(recognised?.client, 'proc') ?? fact(said.client?.name, 'client'),
    provider_session_id: session,
    conversation: conversation === null ? session : (proof ?? { value: conversation, source: 'meta' }),
    model: fact(args.model, 'argv') ?? fact(known && modelAround(attestor, known, process), 'environ'),
    cwd: fact(process.cwd, 'proc'),
  }
  const sources: Record<string, string> = {}
  for (const [name, found] of Object.entries(facts)) if (found) sources[name] = found.source
  const cut = (found: Fact | null) => cutFact(found?.value ?? null, LIMITS.fact)
  return {
    corroborated: {
      provider: cut(facts.provider),
      provider_session_id: cut(facts.provider_session_id),
      conversation: cut(facts.conversation),
      model: cut(facts.model),
      cwd: cut(facts.cwd),
      sources,
    },
    proved: proof?.value ?? null,
  }
}

/** The model that the environment of the client names; an option goes before it. */
function modelAround(attestor: Attestor, { modelFrom = [] }: Client, process: Process): string | null {
  if (modelFrom.length === 0) return null
  const environment = attestor.environment(process, modelFrom)
  return modelFrom.map((name) => modelName(environment[name])).find((name) => name !== null) ?? null
}

const fact = (value: string | null | undefined, source: Fact['source']): Fact | null =>
  value === null || value === undefined || value === '' ? null : { value, source }

/** The record is newer than the command line: /clear and /resume change it. A conversation is proved only as itself. */
function proofOf(
  attestor: Attestor,
  client: string,
  process: Process,
  conversation: string | null,
  argument: string | null,
): Fact | null {
  if (conversation !== null && openThreads(attestor, client, process).has(conversation))
    return { value: conversation, source: 'record' }
  const found = fact(recordedSession(attestor, client, process), 'record') ?? fact(argument, 'argv')
  return conversation === null || found?.value === conversation ? found : null
}
