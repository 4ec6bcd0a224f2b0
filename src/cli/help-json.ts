// What --json prints, command by command: made from the schemas that the answers are checked against, so it cannot be wrong.
import type { TSchema } from '@sinclair/typebox'
import { ADMIN, type AdminRoute } from '../wire/admin.ts'
import { CHAT, type ChatCommand } from '../wire/chat.ts'
import { OPERATIONS, type OperationName } from '../wire/operations.ts'
import { UI, type UiRoute } from '../wire/ui.ts'
import { PRINTED, type Printed } from './help-json-commands.ts'

const schemaOf = (answer: Exclude<Printed, object>): TSchema =>
  answer.startsWith('admin/')
    ? ADMIN[answer.slice(6) as AdminRoute].answer
    : answer.startsWith('ui/')
      ? UI[answer.slice(3) as UiRoute].answer
      : answer.startsWith('chat/')
        ? CHAT[answer.slice(5) as ChatCommand].answer
        : OPERATIONS[answer as OperationName].answer

const membersOf = (printed: Printed): string[] =>
  typeof printed === 'object' ? printed.own.split(', ') : members(schemaOf(printed))

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

const answers = PRINTED.map(([commands, printed]) => {
  const names = membersOf(printed)
  return `  ${commands}\n${names.join('') === '' ? '    nothing: {}\n' : wrapped(names)}`
}).join('')

export const JSON_TOPIC = {
  title: 'what --json prints',
  text: `Every command prints one JSON object with --json: on one line in a pipe, indented on a terminal. \`watch\` prints one message a
line, \`dispatch watch\` an object for each change. Members may be added in later versions; none changes its meaning or goes. Times are RFC 3339
UTC, ages whole seconds. The whole schemas: GET /openapi.json.

${answers}  ack all, close all, close --from …
    closed, results, unlisted, new, unread; with --dry-run closed, messages, unlisted, unread

A message, wherever one is:
${wrapped(members(OPERATIONS.thread.answer.properties.messages.items))}
A refusal goes to stderr, with the exit code of its kind:
    kind, message, hint, and the facts that it is about`,
}
