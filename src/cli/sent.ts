// mail4agent sent: what the account sent, and what became of it.
import { defineCommand } from './command.ts'
import { brief, when, whenHead } from './letter.ts'
import { PAGE_OPTIONS, pageRequest, sayMore } from './page.ts'

export const sent = defineCommand({
  name: 'sent',
  summary: 'what your account sent, newest first',
  usage: '[options]',
  help: `Lists what your account sent, newest first, with the state of each copy: new, opened, closed.

  mail4agent sent -n 5
  mail4agent receipts m4a_00000000002a9f3c51d07be4    who opened and closed one of them, and when`,
  options: PAGE_OPTIONS,
  words: [0, 0],
  async run(context) {
    const client = await context.mailbox()
    const answer = await client.call('sent', pageRequest(context.options))
    const rows = answer.messages.flatMap((message) =>
      message.deliveries.map((delivery) => [
        message.message_id,
        delivery.session_ended ? `${delivery.state} (session ended)` : delivery.state,
        brief(message.from_text, context),
        brief(delivery.to_text, context),
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
