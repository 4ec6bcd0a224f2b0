// What people read of up: what it will do, with the differences where they were asked for, and what it has done.
import type { ClientName } from '../install/client.ts'
import type { ClientPlan } from '../install/plan.ts'
import type { ServiceChange } from '../install/service-step.ts'
import type { Refusal } from '../wire/refusal.ts'
import type { Context } from './context.ts'
import { escapeText } from './escape.ts'

export type Plan = {
  clients: readonly ClientPlan[]
  runs: boolean
  service: readonly ServiceChange[] | null
  /** The accounts that it makes; those of clients get a letter. */
  accounts: readonly string[]
}

export type Done = {
  person: string
  /** Accounts made now. */
  made: string[]
  clients: { client: ClientName; title: string; written: string[]; notes: string[]; refusal: Refusal | null }[]
  letters: { to: string; message_id: string }[]
}

const lines = (all: readonly string[]): string => all.map((line) => `${line}\n`).join('')

export function planText({ paint }: Context, { clients, runs, service, accounts }: Plan, differences: boolean): string {
  const how = service === null ? 'starts in the background' : 'is installed as a service and started'
  const all = [`${paint('bold', 'mailbox')}  ${runs ? 'runs already' : how}`]
  for (const { what, text } of service ?? []) all.push(`  ${what}`, ...(differences && text ? [escapeText(text)] : []))
  if (accounts.length > 0) all.push(`${paint('bold', 'accounts')}  makes ${accounts.join(', ')}`)
  const greeted = clients.map(({ client }) => client.name).filter((name) => accounts.includes(name))
  if (greeted.length > 0)
    all.push(`${paint('bold', 'letters')}  writes to ${greeted.join(', ')} that the mailbox works`)
  if (clients.length === 0) all.push('no agent client was found; name one with --only to set it up all the same')
  for (const { client, found, changes, notes, refusal } of clients) {
    all.push(`${paint('bold', client.title)}  ${found ?? 'not found here'}`)
    if (refusal !== null) all.push(`  ${paint('red', 'left alone:')} ${refusal.message}`, `  ${refusal.hint}`)
    else if (changes.length === 0) all.push('  in place')
    for (const { file, kind, diff } of changes) {
      all.push(`  ${kind === 'create' ? 'makes' : 'edits'} ${file.path}`)
      // each line keeps the line end of its file, which is no part of what changes
      if (differences) all.push(escapeText(diff.replaceAll('\r\n', '\n')).trimEnd())
    }
    for (const note of refusal === null ? notes : []) all.push(`  ${paint('dim', `note: ${note}`)}`)
  }
  return lines(all)
}

export function doneText(context: Context, daemon: string, done: Done): string {
  const { paint, io } = context
  const us = `${io.program}${context.place.dataDir && context.options['data-dir'] ? ` --data-dir ${context.place.dataDir}` : ''}`
  const changed = done.clients.some(({ written }) => written.length > 0) || done.made.length > 0
  const all = [`the mailbox ${daemon}`]
  for (const { title, written, notes, refusal } of done.clients) {
    if (refusal !== null)
      all.push(`${paint('red', `${title} was left alone:`)} ${refusal.message}`, `  try: ${refusal.hint}`)
    else all.push(`${title} ${written.length === 0 ? 'is in place' : `is set up: ${written.join(', ')}`}`)
    if (refusal === null && written.length > 0) for (const note of notes) all.push(`  note: ${note}`)
  }
  if (!changed) return lines([...all, 'nothing had to be changed'])
  all.push(
    `your own account is ${done.person}`,
    ...(done.letters.length === 0 ? [] : [`a letter waits for ${done.letters.map(({ to }) => to).join(', ')}`]),
    `try: start an agent and ask it "do you have mail?"; clients that run already need a restart`,
    `     ${us} send ${done.clients[0]?.client ?? 'claude'} "hello"`,
    `     ${us} inbox`,
    `take it all back: ${us} down`,
  )
  return lines(all)
}
