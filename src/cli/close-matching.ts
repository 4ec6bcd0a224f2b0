// Closing what was listed, or what options choose: in steps of one transaction each, up to where it began.
import type { BatchResult } from '../wire/answers.ts'
import type { CloseAllAnswer, CloseAllRequest } from '../wire/filter.ts'
import type { Message } from '../wire/letter.ts'
import { LIMITS } from '../wire/limits.ts'
import { settledExit } from './batch.ts'
import type { Context } from './context.ts'
import { letterTable } from './letter.ts'
import { isOneShot } from './one-shot.ts'

/** `listed`: only what was listed; the rest is listed now, and stays open. Resolves to the exit code. */
export async function closeMatching(
  context: Context<{ 'dry-run': { help: string } }>,
  filter: CloseAllRequest,
  listed: boolean,
): Promise<number> {
  const client = await context.mailbox()
  const dry = context.options['dry-run']
  const who = listed ? ((await isOneShot(client)) ? ('account' as const) : ('session' as const)) : null
  const request: CloseAllRequest = {
    ...filter,
    ...(who === null ? {} : { listed: who }),
    ...(dry ? { dry_run: true } : {}),
  }
  const results: BatchResult[] = []
  const found: Message[] = []
  let unlisted = 0
  let step: CloseAllAnswer = await client.call('close_all', request)
  for (;;) {
    results.push(...step.results)
    found.push(...(step.messages ?? []))
    unlisted += step.unlisted
    if (!step.has_more) break
    context.progress(`closed ${done(results)}; there is more`)
    step = await client.call('close_all', { ...request, up_to: step.up_to, cursor: step.cursor })
  }
  const closed = done(results)
  const isList = listed && !dry && unlisted > 0
  const fresh = isList
    ? (await client.call('inbox', { limit: LIMITS.pageMax, max_bytes: LIMITS.budgetMax })).messages
    : []
  const names = fresh.map((message) => message.message_id)
  if (dry) context.show({ closed: 0, messages: found, unlisted, unread: step.unread }, () => dryText(context, found))
  else context.show({ closed, results, unlisted, new: names, unread: step.unread }, () => `closed ${closed}\n`)
  if (context.json) return settledExit(context, results)
  if (dry) context.say(`${found.length} would be closed`)
  if (unlisted > 0)
    context.say(`${unlisted} not listed before ${unlisted === 1 ? 'stays' : 'stay'} open${isList ? ':' : ''}`)
  if (fresh.length > 0) context.io.err(letterTable(fresh, context))
  return settledExit(context, results)
}

const done = (results: readonly BatchResult[]): number => results.filter((result) => result.ok).length
const dryText = (context: Context, found: readonly Message[]): string =>
  found.length === 0 ? '' : letterTable(found, context)
