// An operation and its request as words of the command line, so that one test can go through every door.

type Request = Record<string, unknown>
type Words = { argv: string[]; input: string }

const option = (request: Request, field: string, flag: string): string[] =>
  request[field] === undefined ? [] : [`--${flag}`, String(request[field])]

const ids = (request: Request): string[] =>
  request.message_id ? [String(request.message_id)] : ((request.message_ids as string[] | undefined) ?? [])

const page = (request: Request) => [...option(request, 'cursor', 'cursor'), ...option(request, 'limit', 'limit')]

const OPERATIONS: Record<string, (request: Request) => string[]> = {
  send: (request) => [
    'send',
    ...(request.to ? [[request.to].flat().join(',')] : []),
    ...option(request, 'subject', 'subject'),
    ...option(request, 'reply_to', 'reply-to'),
    ...option(request, 'idempotency_key', 'key'),
    ...option(request, 'upsert_key', 'upsert'),
    ...(request.close ? ['--close'] : []),
    '-',
  ],
  inbox: (request) => [
    'inbox',
    ...option(request, 'state', 'state'),
    ...option(request, 'wait_secs', 'wait'),
    ...page(request),
  ],
  get: (request) => ['view', String(request.message_id), ...(request.peek ? ['--peek'] : [])],
  ack: (request) => ['ack', ...ids(request)],
  reopen: (request) => ['reopen', ...ids(request)],
  claim: (request) => ['claim', ...ids(request), ...(request.claim_secs === 0 ? ['--release'] : [])],
  unread: () => ['unread'],
  sent: (request) => ['sent', ...page(request)],
  thread: (request) => ['thread', String(request.message_id), ...page(request)],
  search: (request) => ['search', String(request.query), ...page(request)],
  receipts: (request) => ['receipts', ...ids(request), ...page(request)],
  whoami: () => ['whoami'],
  directory: () => ['peers'],
  ping: (request) => ['ping', String(request.target)],
}

/** @throws Error for an operation that the command line words otherwise */
export function cliArguments(op: string, request: Request): Words {
  const words = OPERATIONS[op]
  if (!words) throw new Error(`no command for ${op}`)
  return { argv: words(request), input: typeof request.body === 'string' ? request.body : '' }
}
