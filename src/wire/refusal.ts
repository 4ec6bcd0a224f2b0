// The one refusal type: {kind, message, hint, …facts}, and one row per kind: HTTP status, exit code, hint.

import type { RefusalBody } from './refusal-body.ts'

type Row = { status: number; exit: 1 | 2 | 3; hint: string }
const row = (status: number, hint: string, exit: Row['exit'] = 1): Row => ({ status, exit, hint })

/** Every kind that any door may answer. The MCP shape is the same object in a result with isError. */
export const REFUSALS = {
  // who is calling
  unauthenticated: row(
    401,
    'send Authorization: Bearer <token>; the person who runs the mailbox makes tokens with: mail4agent admin account add <name>',
  ),
  agent_ancestor: row(403, 'this token belongs to a person; an agent uses its own account'),
  login_over: row(403, 'ask for a new link with: mail4agent ui'),
  anchor_ended: row(403, 'the agent this process belonged to has ended; start again from a live one'),
  peer_gone: row(403, 'the calling process had closed its connection or ended; call again'),
  other_user: row(403, 'run the caller as the same user as the mailbox'),
  unreadable: row(403, 'the calling process hides itself from its own user (not dumpable); it cannot be attested'),
  no_holder: row(
    403,
    'no process on this machine holds the connection: call from this machine, outside containers, without a forwarder',
  ),
  shared_connection: row(403, 'several processes hold this connection; open one of your own'),
  forwarder: row(
    403,
    'a port forwarder is calling; run the client on this machine, or let the operator allow the forwarder',
  ),
  unsupported_platform: row(403, 'this platform has no peer attestation; /health says why'),
  attestation_down: row(403, 'the attestation self-test fails; it is repeated, and /health and the log say why'),
  bad_host: row(403, 'use http://127.0.0.1, http://[::1] or http://localhost with the port of the mailbox'),
  bad_origin: row(403, 'web pages of other origins may not call the mailbox'),
  permission_denied: row(403, 'the operator can grant it: mail4agent admin account set <name> --can <capability>'),
  // what was asked
  malformed: row(400, 'compare the request with /openapi.json', 2),
  too_large: row(400, 'make it smaller, or put the text in a file and send a reference to it', 2),
  unsupported_media_type: row(415, 'send Content-Type: application/json', 2),
  not_found: row(404, 'GET /openapi.json lists every route', 2),
  method_not_allowed: row(405, 'GET /openapi.json lists every route and its method', 2),
  // whom and what it is about
  unknown_participant: row(404, 'list accounts with m4a_mail_peers or: mail4agent peers'),
  unknown_room: row(404, 'list rooms with m4a_mail_peers or: mail4agent peers'),
  unknown_session: row(404, 'list live sessions with m4a_mail_peers or: mail4agent peers; or write to the account'),
  ambiguous_session: row(409, 'use more digits of the session id; the candidates are listed'),
  session_account_mismatch: row(409, 'that session belongs to another account; use the address as it was shown'),
  unknown_machine: row(404, 'no other machine is linked under that name'),
  unknown_message: row(404, 'no message with that id that you may read'),
  not_a_member: row(
    403,
    'only members post to a room; the operator adds them: mail4agent admin room join <room> <account>',
  ),
  no_recipient: row(400, 'name at least one recipient, or reply_to a message', 2),
  ambiguous_alias: row(
    409,
    'an account has the name of your alias now; give the alias another name: mail4agent contacts alias remove <name>',
  ),
  name_taken: row(409, 'choose another name; the existing one keeps its token'),
  last_operator: row(409, 'make another operator first; the last one cannot be removed'),
  // state
  claimed: row(409, 'a sibling session is working on it until the time shown'),
  not_closed: row(409, 'only closed mail can be reopened'),
  not_claimable: row(
    409,
    'mail of a session or a room is not shared out, and closed mail has to be reopened first; ack it, or leave it',
  ),
  not_orphaned: row(409, 'only mail of a session that has ended without a successor can be released'),
  idempotency_conflict: row(409, 'that key was used for other content; use a new key, or read the original'),
  cursor_expired: row(
    410,
    'the store was restored, or what it points at has been removed since; read again without a cursor',
  ),
  not_shown: row(503, 'the message says what is missing; mail itself is not affected'),
  hop_limit: row(409, 'this thread has bounced between agents too often; a person has to start a new one'),
  rate_limited: row(429, 'wait retry_after_ms and send again with the same idempotency_key'),
  too_many: row(429, 'end some of them, or wait retry_after_ms and try again'),
  busy: row(503, 'the write queue is full; wait retry_after_ms and try again with the same idempotency_key'),
  shutting_down: row(503, 'the mailbox is stopping; try again with the same idempotency_key'),
  store_unavailable: row(503, 'the store could not do it; see: mail4agent status, and the log of the mailbox'),
  // starting agents
  not_an_agent: row(404, 'the operator lets an account be started: mail4agent agent add <name> --provider … --cwd …'),
  dispatch_refused: row(403, 'send it without dispatch, or ask the person who runs the mailbox'),
  dispatch_paused: row(409, 'send it without dispatch, or wait until it is resumed: mail4agent dispatch resume'),
  daily_cap: row(
    429,
    'send it without dispatch, or wait retry_after_ms; the operator can raise it: mail4agent agent set',
  ),
  unknown_dispatch: row(404, 'list them: mail4agent dispatch status'),
  dispatch_unavailable: row(503, 'agents can be started on Linux only, by a mailbox that mail4agent serve runs'),
  // starting the daemon and finding it
  already_running: row(409, 'a mailbox already runs on this data folder; use it, or choose another with --data-dir'),
  port_taken: row(409, 'another program listens there; choose another port with --port'),
  newer_store: row(409, 'this store was written by a newer mail4agent; use that version'),
  damaged_store: row(500, 'restore a backup with: mail4agent admin restore <file>'),
  unfit_program: row(409, 'name a release of mail4agent for this system; nothing was changed'),
  upgrade_failed: row(503, 'see the log of the mailbox'),
  bad_permissions: row(403, 'make the file readable by its owner only: chmod 600'),
  damaged_config: row(409, 'mend that file or move it away, and run this again; it was left as it is'),
  setup_running: row(409, 'wait until the other one is done, and say it again'),
  service_failed: row(500, 'the service manager says why; see: mail4agent service status, mail4agent service logs'),
  no_service_manager: row(
    409,
    'run it in the background: mail4agent up --no-service, or in a terminal: mail4agent serve',
  ),
  daemon_unreachable: row(503, 'start the mailbox with: mail4agent start', 3),
  // other machines
  link_off: row(409, 'set it up with: mail4agent link setup'),
  link_exists: row(409, 'end it first with: mail4agent link off'),
  link_restored: row(
    409,
    'a device must never run twice; begin a new one: mail4agent link off, then mail4agent link setup',
  ),
  unknown_peer: row(404, 'list them with: mail4agent link peer list'),
  peer_not_allowed: row(
    403,
    'the operator of that machine allows it: mail4agent link peer allow <peer> --account <name>',
  ),
  not_you: row(
    403,
    'name a session that you are: see mail4agent whoami; who has none yet calls the mailbox with its token first',
  ),
  ambiguous_room: row(409, 'name it by its id; the candidates are listed'),
  unknown_chat: row(404, 'list the rooms with: mail4agent chat list'),
  unknown_event: row(404, 'read the room for its event ids: mail4agent chat read <room>'),
  not_yours: row(403, 'only what your own account wrote can be changed'),
  not_encrypted: row(409, 'nothing is sent in clear; make an encrypted room: mail4agent chat create'),
  nobody_pinned: row(409, 'pin somebody in that room first: mail4agent link peer add <name> … --person'),
  carries_mail: row(409, 'write to the accounts of that machine instead: mail4agent send <account>@<machine>'),
  not_verified: row(409, 'nothing was pinned; try it again: mail4agent link verify <name>'),
  homeserver: row(502, 'the homeserver says why; mail waits meanwhile'),
  vault_key_missing: row(409, 'give the key back to its holder, or restore: mail4agent vault restore <file>'),
  vault_damaged: row(
    500,
    'restore a backup of it: mail4agent vault restore <file>; or begin a new device: mail4agent link off',
  ),
  vault_busy: row(409, 'another process changes the vault; try again'),
  which_account: row(400, 'choose with --as <account>, M4A_ACCOUNT or M4A_TOKEN_FILE', 2),
  usage: row(400, 'see: mail4agent help', 2),
  internal: row(500, 'this is a fault of the mailbox; its log has the details'),
} as const satisfies Record<string, Row>

export type RefusalKind = keyof typeof REFUSALS
export type Facts = Record<string, unknown>

/** Thrown by any layer; rendered by the door. `message` is lower case without a full stop; facts hold no secret and no body. */
export class Refusal extends Error {
  readonly status: number
  readonly exit: 1 | 2 | 3
  readonly hint: string
  constructor(
    readonly kind: RefusalKind,
    message: string,
    readonly facts: Facts = {},
    hint?: string,
  ) {
    super(message)
    this.name = 'Refusal'
    const row = REFUSALS[kind]
    this.status = row.status
    this.exit = row.exit
    this.hint = hint ?? row.hint
  }
  toJSON(): RefusalBody & Facts {
    return { kind: this.kind, message: this.message, hint: this.hint, ...this.facts }
  }
  /** The refusal that a body describes, or null if it is none: how the client gets it back. */
  static from(body: unknown): Refusal | null {
    if (typeof body !== 'object' || body === null || !('kind' in body) || typeof body.kind !== 'string') return null
    if (!Object.hasOwn(REFUSALS, body.kind)) return null
    const { kind, message, hint, ...facts } = body as Facts
    return new Refusal(kind as RefusalKind, String(message ?? kind), facts, typeof hint === 'string' ? hint : undefined)
  }
}

export const malformed = (field: string, reason: string): Refusal =>
  new Refusal('malformed', `${field}: ${reason}`, { field, reason })

/** What a limit counts. Texts are counted in bytes, lists in entries; a plain number has no unit. */
export type Unit = 'bytes' | 'entries' | 'seconds' | ''

export const tooLarge = (field: string, limit: number, actual: number, unit: Unit = 'bytes'): Refusal => {
  const of = (count: number) => `${count}${unit === '' ? '' : ` ${count === 1 ? ONE[unit] : unit}`}`
  const hint = BIG_TEXTS.has(field) ? undefined : `make it ${of(limit)} or less`
  const verb = unit === 'entries' ? 'has' : 'is'
  const message = `${field} ${verb} ${of(actual)}, the limit is ${of(limit)}`
  return new Refusal('too_large', message, { field, limit, actual }, hint)
}

const ONE = { bytes: 'byte', entries: 'entry', seconds: 'second' } as const
/** What can as well lie in a file. */
const BIG_TEXTS = new Set(['body', 'request'])

export const denied = (need: string): Refusal =>
  new Refusal('permission_denied', `this needs the capability ${need}`, { need: `mail:${need}` })
