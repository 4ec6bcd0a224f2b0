// mail4agent ack, close: done with it.
import type { MailClient } from '../client/client.ts'
import type { BatchResult, InboxAnswer } from '../wire/answers.ts'
import type { Message } from '../wire/letter.ts'
import { LIMITS } from '../wire/limits.ts'
import { settledExit, settledText } from './batch.ts'
import { defineCommand } from './command.ts'
import type { Context } from './context.ts'
import { idsOf } from './latest.ts'
import { letterTable } from './letter.ts'

export const ack = defineCommand({
  name: 'ack',
  aliases: ['close'],
  summary: 'acknowledge: close messages',
  usage: '<id | latest>… | all',
  help: `Closes messages: done, read, nothing more to do. Their senders see who closed them and when. Mail to an account is
closed for all its sessions; mail of a room for this session. Closed mail stays readable, and reopen takes it back.
\`close\` is the same.

  mail4agent ack m4a_00000000002a9f3c51d07be4
  mail4agent ack m4a_00000000002a9f3c51d07be4 m4a_00000000002b04d7c9e815fa
  mail4agent ack latest                 the newest of your mail
  mail4agent ack all                    everything that was listed before; what is new is listed now and stays open`,
  options: {},
  words: [1, LIMITS.batch],
  async run(context) {
    const client = await context.mailbox()
    const { words } = context
    if (words.length === 1 && words[0] === 'all') return ackAll(context, client)
    const answer = await client.call('ack', { message_ids: await idsOf(client, words, context.io.now()) })
    context.show(answer, () => settledText('closed', answer.results))
    if (!context.json) context.say(`${answer.unread} not closed`)
    return settledExit(context, answer.results)
  },
})

/** Nobody closes what he was never shown: mail that this call is the first to list stays open. */
async function ackAll(context: Context, client: MailClient): Promise<number> {
  const results: BatchResult[] = []
  const fresh = new Map<string, Message>()
  let begin: string | null = null
  // Always the first page: a cursor would mark as opened what it passes. What was closed is gone from it.
  for (;;) {
    const page: InboxAnswer = await client.call('inbox', { limit: LIMITS.pageMax, max_bytes: LIMITS.budgetMax })
    begin ??= page.now
    const listed: string[] = []
    for (const message of page.messages) {
      if (message.notified_at !== undefined && message.notified_at < begin) listed.push(message.message_id)
      else fresh.set(message.message_id, message)
    }
    const done = await ackEach(client, listed)
    results.push(...done)
    const closed = results.filter((result) => result.ok).length
    if (page.has_more && done.some((result) => result.ok)) {
      context.progress(`closed ${closed}; there is more`)
      continue
    }
    const { unread } = await client.call('unread', {})
    context.show({ closed, results, new: [...fresh.keys()], unread }, () => `closed ${closed}\n`)
    if (!context.json && fresh.size > 0) {
      context.say(`${fresh.size} not listed before stay open:`)
      context.io.err(letterTable([...fresh.values()], context))
    }
    return settledExit(context, results)
  }
}

async function ackEach(client: MailClient, ids: readonly string[]): Promise<BatchResult[]> {
  const results: BatchResult[] = []
  for (let at = 0; at < ids.length; at += LIMITS.batch) {
    const answer = await client.call('ack', { message_ids: ids.slice(at, at + LIMITS.batch) })
    results.push(...answer.results)
  }
  return results
}
