// A refusal as people and scripts read it: on stderr, with what to try; with --json the refusal object itself.
import { type Facts, REFUSALS, Refusal, type RefusalKind } from '../wire/refusal.ts'
import type { FoundToken } from './account.ts'
import { escapeLine } from './escape.ts'
import { type Paint, plain } from './paint.ts'
import { clockAndAge } from './times.ts'
import { OPERATOR } from './token-files.ts'

/** Anything thrown, as a refusal; what is none is a fault of ours. */
export const asRefusal = (error: unknown): Refusal =>
  error instanceof Refusal
    ? error
    : new Refusal(
        'internal',
        error instanceof Error ? `${error.name}: ${error.message}` : 'something unknown was thrown',
        {},
        'this is a fault of mail4agent; please report it',
      )

/**
 * The same refusal with a hint for whoever sits at a command line, where the mailbox gave the one that programs get.
 * `command`: what was to be done, as typed; null where that is not known.
 */
export function forPerson(refusal: Refusal, command: string | null): Refusal {
  const { kind, message, facts } = refusal
  return refusal.hint === REFUSALS[kind].hint
    ? new Refusal(kind, message, facts, personHint(kind, facts, command) ?? refusal.hint)
    : refusal
}

function personHint(kind: RefusalKind, facts: Facts, command: string | null): string | null {
  switch (kind) {
    case 'daemon_unreachable':
      return facts.foreign === true
        ? 'another program holds that port: see mail4agent doctor, or name the port of your mailbox with --port'
        : null
    case 'malformed':
    case 'usage':
      return command === null || command === 'help' ? 'see: mail4agent help' : `see: mail4agent help ${command}`
    case 'unknown_message':
      return 'list your mail with: mail4agent inbox --state all'
    case 'unknown_participant':
    case 'unknown_room':
      return 'list accounts and rooms with: mail4agent peers'
    case 'unknown_session':
      return 'list live sessions with: mail4agent peers; or write to the account'
    case 'not_found':
    case 'method_not_allowed':
      return 'the mailbox is of another version; compare: mail4agent version, mail4agent status'
    case 'too_many':
      return typeof facts.retry_after_ms === 'number'
        ? `end some of them, or try again in ${Math.ceil(facts.retry_after_ms / 1_000)} s`
        : null
    case 'rate_limited':
    case 'busy':
      return typeof facts.retry_after_ms === 'number'
        ? `try again in ${Math.ceil(facts.retry_after_ms / 1_000)} s; with --key nothing is stored twice`
        : null
    default:
      return null
  }
}

/** Says of a token that the mailbox does not know where it came from, and what to do about that. */
export function withToken(refusal: Refusal, { source, account, path }: FoundToken): Refusal {
  if (refusal.kind !== 'unauthenticated') return refusal
  const from = path === null ? source : `${path} (${source})`
  const another = 'if it belongs to another mailbox, name that with --data-dir or --port'
  const hint =
    account === null
      ? `correct or unset ${source}, or choose an account with --as; ${another}`
      : account === OPERATOR
        ? another
        : `make a new one with: mail4agent admin account rotate ${account}; ${another}`
  return new Refusal('unauthenticated', refusal.message, { ...refusal.facts, token_from: from }, hint)
}

/**
 * `refused: …`, the facts that help: where that was, which token, what was seen of the caller, who has claimed it, the
 * candidates; then `try: …`. `now` in milliseconds since the epoch.
 */
export function refusalText(refusal: Refusal, now: number, paint: Paint = plain): string {
  const { facts } = refusal
  const lines = factLines(facts, now).map(([name, value]) => `${paint('dim', `${name}:`)} ${escapeLine(value)}`)
  return [
    `${paint('red', 'refused:')} ${escapeLine(refusal.message)}`,
    ...lines,
    `${paint('dim', 'try:')} ${escapeLine(refusal.hint)}`,
  ]
    .map((line) => `${line}\n`)
    .join('')
}

/** Name and value of the facts of a refusal that a person can use. */
export function factLines(facts: Facts, now: number): [string, string][] {
  const { candidates, socket, base, seen, token_from, claimed_by, claimed_until } = facts
  const lines: [string, string][] = []
  const where = socket ?? base
  if (typeof where === 'string') lines.push(['there', where])
  if (typeof token_from === 'string') lines.push(['token from', token_from])
  if (typeof seen === 'object' && seen !== null)
    lines.push([
      'seen',
      Object.entries(seen)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
    ])
  if (typeof claimed_by === 'string') lines.push(['claimed by', claimed_by])
  if (typeof claimed_until === 'string')
    lines.push(['claimed until', clockAndAge(claimed_until, new Date(now).toISOString())])
  if (Array.isArray(candidates) && candidates.length > 0) lines.push(['candidates', candidates.map(String).join(', ')])
  return lines
}
