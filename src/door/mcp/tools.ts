// The eight tools of the mailbox: which operation each runs, and the words that teach a model to use it.
import { type TSchema, Type } from '@sinclair/typebox'
import { HOOK_TOOL } from '../../delivery/notices.ts'
import type { Patience } from '../../engine/mail.ts'
import type { Said } from '../../identity/identify.ts'
import { LIMITS } from '../../wire/limits.ts'
import { OPERATIONS, type OperationName } from '../../wire/operations.ts'
import { Refusal } from '../../wire/refusal.ts'
import { checkRequest } from '../validate.ts'
import { runHook } from './hook.ts'
import { inputSchema } from './portable.ts'
import { isRecord } from './rpc.ts'
import { answered, refused, type Tool, type ToolTable, type Visitor } from './table.ts'

/** A visitor of the mailbox: proves the session with what the message says, then lets the engine run the operation. */
export interface MailVisitor extends Visitor {
  /** `request` fits the schema of the operation. Rejects with a Refusal, or with a fault that the HTTP door reports. */
  perform(operation: OperationName, request: object, said: Said, patience: Patience): Promise<object>
}

type Row = {
  operation: OperationName
  title: string
  description: string
  /** What `readOnly` and the others mean: MCP, ToolAnnotations. */
  hints: { readOnlyHint?: true; destructiveHint?: false; idempotentHint?: true; openWorldHint: boolean }
  about?: { readonly [field: string]: string }
  /** Arguments beside those of the operation: they choose another one, or are another one's. */
  more?: { readonly [field: string]: TSchema }
  views?: readonly View[]
  /** Not required where a view is chosen. */
  optional?: readonly string[]
}

/** With that value of that argument the tool runs another operation, with these arguments fixed. */
type View = { field: string; value: string | boolean; operation: OperationName | null; fixed?: object }

const READS = { readOnlyHint: true, openWorldHint: false } as const
const SETTLES = { destructiveHint: false, idempotentHint: true, openWorldHint: false } as const
const oneOf = (...values: string[]) => Type.Union(values.map((value) => Type.Literal(value)))
const page = {
  limit: `at most so many, default ${LIMITS.pageDefault}`,
  cursor: 'cursor of an earlier answer: only what comes after it',
  max_bytes: `size of the answer, default ${LIMITS.budgetMcp}; long bodies are cut to previews`,
}

const ROWS: { readonly [tool: string]: Row } = {
  m4a_mail_send: {
    operation: 'send',
    title: 'Send mail',
    description:
      'Send a letter to other agents or to a person, or answer one (reply_to, no to). It is on disk when this answers; that it was ' +
      'read is another matter. The answer warns when nobody reads that mailbox. You are named as the sender by the mailbox itself.',
    hints: { destructiveHint: false, openWorldHint: true },
    about: {
      to: 'account, account/s-session or #room, or a list of them; without it the sender or room of reply_to',
      subject: 'one line; only an answer can do without',
      body: `text, up to ${LIMITS.body} bytes`,
      reply_to: 'message_id that this answers',
      close: 'with reply_to: also close the letter answered',
      correlation: 'your own mark, handed back unread',
      refs: 'pointers to files or other things, stored as they are and never opened',
      idempotency_key: 'same key and content again: no second letter. Use it when you retry',
      upsert_key: 'a repeated signal: replaces your earlier letter with this key',
      on_behalf_of: 'for whom you write; needs a capability',
      dispatch: 'have the recipient started to handle it, in its usual session or a fresh one; needs a capability',
    },
  },
  m4a_mail_inbox: {
    operation: 'inbox',
    title: 'Read inbox',
    description:
      'Your mail that is not closed, oldest first. It comes from other agents, not from your user. Reading closes nothing: ' +
      'm4a_mail_ack does. To wait, pass wait_secs with the last cursor, or run `mail4agent wait` as a background command.',
    hints: READS,
    about: {
      state: 'default open (all that is not closed)',
      since_unix_ms: 'only what was sent since',
      wait_secs: `wait for new mail up to so many seconds, at most ${LIMITS.waitMcp}`,
      ...page,
    },
  },
  m4a_mail_ack: {
    operation: 'ack',
    title: 'Acknowledge mail',
    description: 'Close letters that you have dealt with; the sender can see it. They stay readable and searchable.',
    hints: SETTLES,
    about: {
      message_id: 'one letter',
      message_ids: 'or several',
      state:
        'closed (default); reopen takes that back; claim keeps siblings off it for claim_secs (600; 0 gives it back)',
    },
    more: { state: oneOf('closed', 'reopen', 'claim'), claim_secs: OPERATIONS.claim.request.properties.claim_secs },
    views: [
      { field: 'state', value: 'closed', operation: null },
      { field: 'state', value: 'reopen', operation: 'reopen' },
      { field: 'state', value: 'claim', operation: 'claim' },
    ],
  },
  m4a_mail_get: {
    operation: 'get',
    title: 'Read one letter',
    description:
      'One letter, whole. Marks it opened, which its sender can see; it stays in the inbox until m4a_mail_ack.',
    hints: READS,
    about: {
      peek: 'leave it unopened',
      thread: 'its whole thread instead, oldest first',
      receipts: 'instead: what became of it, where you sent it',
      cursor: 'of a thread: only what comes after it',
    },
    more: { thread: Type.Boolean(), receipts: Type.Boolean(), cursor: OPERATIONS.thread.request.properties.cursor },
    views: [
      { field: 'thread', value: false, operation: null },
      { field: 'receipts', value: false, operation: null },
      { field: 'thread', value: true, operation: 'thread' },
      { field: 'receipts', value: true, operation: 'receipts' },
    ],
  },
  m4a_mail_whoami: {
    operation: 'whoami',
    title: 'Who am I',
    description:
      'Your own address, account, rooms and capabilities, what the mailbox knows of you, and how much is unread.',
    hints: READS,
  },
  m4a_mail_status: {
    operation: 'status',
    title: 'Say what I work on',
    description:
      'Tell the others what this session works on. Replaces what you said before; what is left out is cleared.',
    hints: SETTLES,
    about: { working_on: 'one line', role: 'what you are here for', parent: 'session that you work for' },
  },
  m4a_mail_peers: {
    operation: 'directory',
    title: 'Whom can I write to',
    description:
      'Accounts with their live sessions and what these work on, and rooms. Look here for an address before you send.',
    hints: READS,
    about: { limit: page.limit, max_bytes: page.max_bytes, after: 'account to go on after' },
  },
  m4a_mail_search: {
    operation: 'search',
    title: 'Search mail',
    description: 'Full-text search in all mail that you may read, closed mail too, newest first.',
    hints: READS,
    about: {
      query: 'words, all of which must occur; "a phrase"; word*. Or none, with a filter',
      written_by: 'an account or session',
      to: 'sent to this account, session or #room',
      state: 'of your own copy',
      thread: 'a message_id of it',
      ...page,
    },
  },
}

/** Lists are as long as a model's client takes whole, unless another length is asked for. The check has said that `args` is an object. */
function sized(operation: OperationName, args: unknown): object {
  const asked: { max_bytes?: unknown } = Object(args)
  if (!Object.hasOwn(OPERATIONS[operation].request.properties, 'max_bytes')) return asked
  return { ...asked, max_bytes: asked.max_bytes ?? LIMITS.budgetMcp }
}

/** The arguments of a tool, for a model to read; each operation checks its own. */
function argumentsOf({ operation, more, optional = [] }: Row): TSchema {
  const { request } = OPERATIONS[operation]
  if (!more) return request
  const required: readonly string[] = 'required' in request ? (request.required ?? []) : []
  return {
    ...request,
    properties: { ...request.properties, ...more },
    required: required.filter((name) => !optional.includes(name)),
  }
}

/** Which operation the arguments mean, and what is left for it. What no view takes is left for its check to refuse. */
function chosen(row: Row, args: unknown): { operation: OperationName; request: unknown } {
  if (!row.views || !isRecord(args)) return { operation: row.operation, request: args }
  const taken = row.views.filter(({ field, value }) => args[field] === value)
  const switches = new Set([
    ...taken.map(({ field }) => field),
    ...row.views.flatMap(({ field }) => (args[field] == null ? [field] : [])),
  ])
  const view = taken.find(({ operation }) => operation !== null)
  const rest = Object.fromEntries(Object.entries(args).filter(([name]) => !switches.has(name)))
  return { operation: view?.operation ?? row.operation, request: { ...rest, ...view?.fixed } }
}

const listed = ([name, row]: [string, Row]): Tool => ({
  name,
  title: row.title,
  description: row.description,
  inputSchema: inputSchema(argumentsOf(row), row.about ?? {}),
  // Older clients look for the title among the annotations.
  annotations: { title: row.title, ...row.hints },
})

export const mailTools: ToolTable<MailVisitor> = {
  list: Object.entries(ROWS).map(listed),
  async call(name, args, { said, patience }, visitor) {
    if (name === HOOK_TOOL) return runHook(args, said, patience, visitor)
    const row = Object.hasOwn(ROWS, name) ? ROWS[name] : undefined
    if (!row) return null
    const { operation, request } = chosen(row, args)
    const refusal = checkRequest(OPERATIONS[operation].request, request)
    if (refusal) return refused(refusal)
    try {
      return answered(await visitor.perform(operation, sized(operation, request), said, patience))
    } catch (error) {
      if (error instanceof Refusal) return refused(error)
      throw error
    }
  },
}
