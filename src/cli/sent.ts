// mail4agent sent: what the account sent, and what became of it.

import type { Receipt } from '../wire/letter.ts'
import { defineCommand } from './command.ts'
import type { Context } from './context.ts'
import { brief, briefState, recipientOf, when, whenHead } from './letter.ts'
import { listOf, PAGE_OPTIONS, pageRequest, sayMore } from './page.ts'

export const sent = defineCommand({
  name: 'sent',
  summary: 'what your account sent, newest first',
  usage: '[options]',
  help: `Lists what your account sent, newest first, with a line for each copy and what became of it: new, opened, closed, and on a
terminal when and how. A letter to several, or to a room, has several lines; --limit counts letters.

  mail4agent sent -n 5
  mail4agent receipts m4a_00000000002a9f3c51d07be4    who opened and closed one of them, and when`,
  options: PAGE_OPTIONS,
  words: [0, 0],
  async run(context) {
    const client = await context.mailbox()
    const answer = await listOf(
      !context.json,
      pageRequest(context.options),
      (asked) => client.call('sent', asked),
      (page) => page.messages,
    )
    const rows = answer.messages.flatMap((message) =>
      message.deliveries.map((delivery) => [
        message.message_id,
        becameOf(delivery, answer.now, context),
        brief(message.from_text, context),
        recipientOf(delivery, context),
        ...when(message, context),
        message.subject,
      ]),
    )
    const code = context.show(answer, () =>
      rows.length === 0 ? '' : context.table(['id', 'state', 'from', 'to', ...whenHead(context), 'subject'], rows),
    )
    if (rows.length === 0 && !context.json) context.say('nothing sent yet')
    sayMore(context, answer)
    return code
  },
})

/** A person sees how and when; a program finds the state, as it is named everywhere. */
function becameOf(delivery: Receipt, now: string, context: Context): string {
  const state = context.io.outColumns === null ? delivery.state : briefState(delivery, now, context)[0]
  return delivery.session_ended ? `${state} (session ended)` : state
}
