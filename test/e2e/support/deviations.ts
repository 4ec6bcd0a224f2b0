// Where the mailbox deviates on purpose from the prior daemon: the table of the README, one test a row.

export type Deviation = { readonly name: string; readonly prior: string; readonly now: string; readonly why: string }

const row = (name: string, prior: string, now: string, why: string): Deviation => ({ name, prior, now, why })

export const DEVIATIONS: readonly Deviation[] = [
  // reading
  row(
    'default inbox',
    'everything ever sent, acknowledged mail too',
    'what is not closed; `state: all` shows the rest',
    'with more than a page of history, new mail was out of sight',
  ),
  row(
    'size of an inbox page',
    'up to `limit` messages of any size',
    'also at most 40,000 bytes; `has_more` and `cursor` lead on, a long body is a preview with `body_truncated`',
    'a page must fit into the context of a model',
  ),
  row(
    'what ends a wait',
    'any message in the page, the own and acknowledged ones too',
    'mail after `cursor`, or without one, mail that this session was not yet given',
    'with any history a wait never waited',
  ),
  row(
    'longest wait',
    '60 s at both doors',
    '60 s over HTTP, 50 s over MCP; more is clamped and the answer says `waited_secs`',
    'MCP clients give up at 60 s',
  ),
  row(
    'what an ack settles',
    'the message for the acknowledging session alone',
    'account mail for the account, session mail for the session, room mail for the acking session',
    'each worker of an account handled the same mail again',
  ),
  row(
    'mail before a session',
    'a new session sees the whole history of its account as unread',
    'it sees what is not closed yet',
    'it would handle old mail again',
  ),
  row(
    'own room posts',
    'in the own inbox, and they end waits',
    'never in the inbox of the session that wrote them',
    'nobody waits for its own words',
  ),
  row(
    'joining a room',
    'shows its whole history',
    'shows what is posted from then on; leaving hides it, joining again shows it again',
    'every post is delivered to its members of that moment',
  ),
  row(
    'own sent mail',
    'refused `not_addressed_to_you`',
    'readable by id, thread, search and `sent`',
    'a sender must be able to see what became of a message',
  ),
  row(
    'unreadable is unknown',
    'an id of other people’s mail is refused `not_addressed_to_you` (403)',
    '`unknown_message` (404), as for an id that does not exist',
    'a refusal must not tell that a message is there',
  ),
  row(
    'unread of the own account',
    'refused `mail:operator`',
    'answered; without a `target` the own session',
    'it is the caller’s own mail',
  ),
  row(
    'mail of an ended session',
    'accepted and readable by nobody any more, without a word',
    'the account sees that it is orphaned, the sender sees `session_ended`, an operator can release it',
    'nothing may be lost silently',
  ),
  // sending
  row(
    'posting to a room',
    'anybody who may send',
    'members only: `not_a_member`',
    'a stranger could write and never read the answers',
  ),
  row(
    '`@` in names',
    'a letter like any other',
    'refused in names of accounts and rooms; in an address it precedes the machine',
    '`claude@desk` is an account on another machine',
  ),
  row(
    'case of names',
    '`Bob` and `bob` are two accounts',
    'names are compared without case and kept as written',
    'two that look alike invite mistakes and forgery',
  ),
  row(
    'key reused for other content',
    'the first message’s id, as if it had been sent',
    '`idempotency_conflict` (409) with the original’s id',
    'the second message was lost silently',
  ),
  row(
    'scope of an idempotency key',
    'the session',
    'the account; a repeat answers `duplicate: true` and the original’s `from`',
    'a retry after a restart comes from another session',
  ),
  row(
    'characters of a key',
    '`[A-Za-z0-9._@+-]`',
    'any printable ASCII without spaces',
    'URLs and times are usual keys',
  ),
  row(
    'control characters in a body',
    'only LF and TAB, so CRLF text is refused',
    'any text but NUL, kept byte for byte',
    'mail carries logs, patches and Windows files',
  ),
  row(
    '`reply_to`',
    'any id, not looked up',
    'a message that the sender may read, else `unknown_message`',
    'a reply belongs to a thread that exists',
  ),
  row(
    'a session of another case or a prefix',
    'only the whole id',
    'a unique prefix of 4 or more hex digits, too',
    'people type addresses',
  ),
  row(
    'a recipient who left',
    'accepted without a word',
    'stored, and the result carries a `warning` when nobody drains that mailbox',
    'the sender can choose another way',
  ),
  // who is calling
  row(
    'session id',
    'pid and wall-clock start',
    'boot, pid namespace, pid, raw start time, pidfd inode, conversation',
    'a stepped clock renamed every running session',
  ),
  row(
    'a command below an agent',
    'a new session for each `curl`',
    'acts in the session of the registered process or agent client above it',
    'answers went to a session that was gone',
  ),
  row('two accounts in one process', 'refused for ever', 'two sessions', 'a session is a process as one account'),
  row(
    'admin calls are attested',
    'a bearer was enough',
    'the process is proved as for mail, and an agent is refused `agent_ancestor`',
    'an agent must not act as its person',
  ),
  row(
    'refused callers',
    '401 `attestation_failed` for any cause',
    '403 with a name for each cause, such as `shared_connection`',
    'MCP clients take a 401 as a call to log in',
  ),
  row(
    'without a valid bearer',
    '401 `{"ok":false,"error":…}`',
    '401 `unauthenticated`, the one refusal object, with `WWW-Authenticate`',
    'one shape for all refusals',
  ),
  row(
    'Host and Origin',
    'not looked at',
    'must name this machine’s loopback: `bad_host`, `bad_origin`',
    'web pages could write mail',
  ),
  // the registry
  row(
    'rights of a new account',
    'none, unless given',
    'send and read, unless any is given',
    'an account that can do nothing helps nobody',
  ),
  row('unknown fields of admin requests', 'ignored', 'refused by name', 'a typing error in a right must not pass'),
  row('a name that is taken', '400 `malformed`', '409 `name_taken`', 'nothing is wrong with the request'),
  row(
    'a name used again',
    'inherits mail, rooms and sessions of the removed account',
    'starts anew',
    'it is another account',
  ),
  row(
    'the last operator',
    'can remove itself; the next start fails',
    'refused `last_operator`',
    'nobody could administer the mailbox',
  ),
  row(
    'setting a listener',
    'answers `{}`',
    'answers the key that signs its doorbells, once; a port that cannot be is refused',
    'a doorbell must be provable',
  ),
  // the doors
  row(
    'fields of answers',
    'exactly those of the table',
    'more; a client that refuses unknown fields in answers has to be told to ignore them',
    'states, cursors and times have to be somewhere',
  ),
  row(
    'wrong field in a request',
    '`malformed` with field `body`',
    '`malformed` or `too_large` with the name of that field',
    'the caller can see what to change',
  ),
  row(
    'body of `whoami` and `directory`',
    'not read',
    'checked like any other: nothing, `{}`, or the known fields',
    'a request with a sender field must not pass',
  ),
  row(
    'directory',
    'every session that ever was',
    'live sessions first and those of the last hour, paged by `limit` and `after`',
    'it grew without end',
  ),
  row(
    'a body that is no JSON',
    '400 with any content type over HTTP, ignored over MCP',
    '415 `unsupported_media_type` at every route',
    'web pages can send plain text without asking',
  ),
  row(
    'unknown route, wrong method',
    'an empty answer',
    '404 `not_found`, 405 `method_not_allowed` as refusals',
    'one shape for all refusals',
  ),
  row('largest request', '2 MiB', '1 MiB: `too_large`', 'the largest letter to a hundred recipients fits twice'),
  row(
    'a foreign or outdated position',
    '`since_unix_ms` alone, nothing to expire',
    'a cursor of a store that was restored since is 410 `cursor_expired`',
    'a silent gap would be worse',
  ),
  // MCP
  row(
    'MCP notifications',
    '204, and so is a request with `id: null`',
    '202 without a body; `id: null` is −32600',
    'MCP says so',
  ),
  row('DELETE /mcp', '204', '405 with `Allow: POST`', 'there is no session to end'),
  row(
    'MCP protocol versions',
    '2025-03-26 and 2025-06-18, else 2025-06-18',
    'these, 2025-11-25 (also the answer to an unknown one) and 2026-07-28',
    'clients have moved on',
  ),
  row(
    'JSON-RPC errors',
    'any call that is no request is −32700, an empty batch −32602, `jsonrpc` is not looked at',
    '−32600 for what is JSON and no request, with HTTP 400; batches only in 2025-03-26',
    'JSON-RPC 2.0 says so',
  ),
  row(
    'arguments of MCP tools',
    'a wrong one is −32602; those of `whoami` and `peers` are ignored',
    'a result with `isError` and the refusal that names the field',
    'the model can mend its own call',
  ),
]

/** The table of the README. */
export function deviationsTable(): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
  return [
    line(['', 'prior daemon', 'mail4agent', 'why']),
    line(['---', '---', '---', '---']),
    ...DEVIATIONS.map(({ name, prior, now, why }) => line([name, prior, now, why])),
  ].join('')
}
