// What --json prints, command by command: made from the schemas that the answers are checked against, so it cannot be wrong.
import type { TSchema } from '@sinclair/typebox'
import { ADMIN, type AdminRoute } from '../wire/admin.ts'
import { OPERATIONS, type OperationName } from '../wire/operations.ts'

/** Command → the operation or /admin route whose answer it prints. */
const ANSWERS: readonly (readonly [command: string, answer: OperationName | `admin/${AdminRoute}`])[] = [
  ['send, email, reply', 'send'],
  ['inbox', 'inbox'],
  ['view', 'get'],
  ['ack, close <id>…', 'ack'],
  ['reopen', 'reopen'],
  ['claim', 'claim'],
  ['sent', 'sent'],
  ['receipts', 'receipts'],
  ['thread', 'thread'],
  ['search', 'search'],
  ['unread', 'unread'],
  ['wait', 'follow'],
  ['whoami', 'whoami'],
  ['status set', 'status'],
  ['peers', 'directory'],
  ['contacts', 'contacts'],
  ['contacts alias …', 'alias'],
  ['rooms, rooms show, rooms members', 'rooms'],
  ['rooms join, rooms leave', 'join'],
  ['stats', 'stats'],
  ['ping', 'ping'],
  ['admin account list', 'admin/participant/list'],
  ['admin account set', 'admin/participant/set'],
  ['admin room list', 'admin/room/list'],
  ['admin listener list', 'admin/listener/list'],
  ['admin orphans list', 'admin/orphan/list'],
]

const schemaOf = (answer: (typeof ANSWERS)[number][1]): TSchema =>
  answer.startsWith('admin/') ? ADMIN[answer.slice(6) as AdminRoute].answer : OPERATIONS[answer as OperationName].answer

/** `a, b?`: the names of an object's members, those that may be missing with a question mark. */
function members(schema: TSchema): string[] {
  if (Array.isArray(schema.allOf)) return [...new Set(schema.allOf.flatMap((part: TSchema) => members(part)))]
  const required: readonly string[] = schema.required ?? []
  return Object.keys(schema.properties ?? {}).map((name) => (required.includes(name) ? name : `${name}?`))
}

const WIDTH = 110
function wrapped(words: readonly string[]): string {
  const lines = ['']
  for (const [index, word] of words.entries()) {
    const text = index === words.length - 1 ? word : `${word},`
    const line = lines.at(-1) ?? ''
    if (line !== '' && line.length + text.length + 1 > WIDTH) lines.push(text)
    else lines[lines.length - 1] = line === '' ? text : `${line} ${text}`
  }
  return lines.map((line) => `    ${line}\n`).join('')
}

const answers = ANSWERS.map(([command, answer]) => `  ${command}\n${wrapped(members(schemaOf(answer)))}`).join('')

export const JSON_TOPIC = {
  title: 'what --json prints',
  text: `Every command prints one JSON object with --json: on one line in a pipe, indented on a terminal. \`watch\` prints one message a
line, \`help\` a list of commands. Members may be added in later versions; none changes its meaning or goes. Times are RFC 3339
UTC, ages whole seconds. The whole schemas: GET /openapi.json.

${answers}  ack all, close all, close --from …
    closed, results, unlisted, new, unread; with --dry-run closed, messages, unlisted, unread

A message, wherever one is:
${wrapped(members(OPERATIONS.thread.answer.properties.messages.items))}
A refusal goes to stderr, with the exit code of its kind:
    kind, message, hint, and the facts that it is about`,
}
