// The newest letter of an inbox that is listed oldest first, without moving a cursor: a cursor would mark mail as opened.
import type { MailClient } from '../client/client.ts'
import type { InboxAnswer } from '../wire/answers.ts'
import type { Message } from '../wire/letter.ts'
import { LIMITS } from '../wire/limits.ts'
import { Refusal } from '../wire/refusal.ts'

const HOUR = 3_600_000
/** Narrow windows first: in a busy mailbox the newest letter is young. The last one is everything. */
const WINDOWS = [HOUR / 4, 24 * HOUR, 30 * 24 * HOUR, Number.POSITIVE_INFINITY]

/** Among which letters the newest is looked for: in this order, until there is one. */
export type Among = readonly ('open' | 'closed' | 'all')[]
const MAIL: Among = ['open', 'all']

/** `now` in milliseconds since the epoch. @throws Refusal `unknown_message` when there is none at all */
export async function latestId(client: MailClient, now: number, among: Among = MAIL): Promise<string> {
  for (const state of among) {
    for (const window of WINDOWS) {
      const found = await newestSince(client, state, Math.max(0, now - window))
      if (found) return found.message_id
    }
  }
  if (among.includes('all'))
    throw new Refusal('unknown_message', 'there is no mail yet', {}, 'wait for it: mail4agent wait')
  throw new Refusal('unknown_message', 'nothing is closed', {}, 'what is open: mail4agent inbox')
}

/** The id that a word of a command line means: `latest` is the newest letter. */
export const idOf = async (client: MailClient, word: string, now: number, among?: Among): Promise<string> =>
  word === 'latest' ? latestId(client, now, among) : word

/** Several, each once. */
export async function idsOf(
  client: MailClient,
  words: readonly string[],
  now: number,
  among?: Among,
): Promise<string[]> {
  const ids = new Set<string>()
  for (const word of words) ids.add(await idOf(client, word, now, among))
  return [...ids]
}

/** `latest` of what was sent. @throws Refusal `unknown_message` when that is nothing */
export async function sentIdOf(client: MailClient, word: string): Promise<string> {
  if (word !== 'latest') return word
  const [newest] = (await client.call('sent', { limit: 1 })).messages
  if (newest) return newest.message_id
  throw new Refusal('unknown_message', 'nothing was sent yet', {}, 'send something: mail4agent send <to> <body>')
}

/** Goes forward by the time of the last letter shown, until nothing is behind it. */
async function newestSince(client: MailClient, state: Among[number], since: number): Promise<Message | null> {
  let newest: Message | null = null
  let cursor: string | null = null
  for (let from = since; ; ) {
    const page: InboxAnswer = await client.call('inbox', {
      state,
      since_unix_ms: from,
      ...(cursor !== null && { cursor }),
      limit: LIMITS.pageMax,
      max_bytes: LIMITS.budgetMax,
    })
    newest = page.messages.at(-1) ?? newest
    if (!page.has_more) return newest
    // nothing but what is not ours to see: only a cursor leads behind it
    cursor = page.messages.length === 0 ? page.cursor : null
    if (newest === null || cursor !== null) continue
    // A whole page within one millisecond: step over it.
    from = newest.created_at_unix_ms > from ? newest.created_at_unix_ms : from + 1
  }
}
