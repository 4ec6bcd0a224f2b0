// What an agent client's command line says: its model and the session it goes on with. From the argument array, one client's options at a time.
import type { Process } from '../attest/attestor.ts'
import type { Client } from './clients.ts'
import { scriptOf } from './executable.ts'

export type Arguments = { model: string | null; session: string | null }

/** A model's name: no spaces, no leading hyphen. Anything else is no fact. */
const MODEL = /^[A-Za-z0-9][A-Za-z0-9._:/@[\]+-]{0,127}$/

/** `name` where it can be a model's; null for anything else. */
export const modelName = (name: string | null | undefined): string | null =>
  name !== null && name !== undefined && MODEL.test(name) ? name : null

/**
 * Reads the options of `client`; the last one wins, as in the clients. A value is taken whole and never read as an option,
 * so that a prompt or a system prompt that holds `--model x` says nothing.
 */
export function readArguments(client: Client, process: Process): Arguments {
  const words = argumentsOf(process)
  const free: string[] = []
  let model: string | null = null
  let session: string | null = null
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '--') break
    if (!word.startsWith('-')) {
      free.push(word)
      continue
    }
    const { name, inline } = optionIn(client, word)
    if (client.model.includes(name)) model = inline ?? words[++at] ?? null
    else if (client.session.includes(name)) {
      // the value may be left out: the client then asks the person which one
      if (inline !== undefined) session = inline
      else if (words[at + 1] !== undefined && !words[at + 1]?.startsWith('-')) session = words[++at] ?? null
    } else if (client.many?.includes(name)) {
      while (at + 1 < words.length && !words[at + 1]?.startsWith('-')) at++
    } else if (inline === undefined && client.valued.includes(name)) at++
  }
  session ??= resumed(client, free)
  if (session !== null && (!client.id.test(session) || words.some((word) => client.forks.includes(word))))
    session = null
  return { model: modelName(model), session }
}

/**
 * One word as an option. getopt(3): letters may share a word, and the first one that takes a value has what is left of it.
 */
function optionIn(client: Client, word: string): { name: string; inline: string | undefined } {
  if (word.startsWith('--')) {
    const equals = word.indexOf('=')
    return equals < 0
      ? { name: word, inline: undefined }
      : { name: word.slice(0, equals), inline: word.slice(equals + 1) }
  }
  for (let at = 1; at < word.length; at++) {
    const name = `-${word[at]}`
    const rest = word.slice(at + 1)
    if ([client.model, client.session, client.valued, client.many ?? []].some((list) => list.includes(name)))
      return { name, inline: rest === '' ? undefined : rest.replace(/^=/, '') }
  }
  return { name: word, inline: undefined }
}

function argumentsOf(process: Process): readonly string[] {
  const script = scriptOf(process)
  return process.argv.slice(script === null ? 1 : process.argv.indexOf(script) + 1)
}

/** The word after a command such as `resume` or `exec resume`, which has to stand first. */
function resumed(client: Client, free: readonly string[]): string | null {
  for (const command of client.resume)
    if (command.every((word, at) => free[at] === word)) return free[command.length] ?? null
  return null
}
