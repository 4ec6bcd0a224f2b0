// mail4agent receipts: who opened and closed what was sent.
import { defineCommand } from './command.ts'
import { sentIdOf } from './latest.ts'
import { brief, stateText } from './letter.ts'
import { PAGE_OPTIONS, pageRequest, sayMore } from './page.ts'

export const receipts = defineCommand({
  name: 'receipts',
  summary: 'what became of what you sent',
  usage: '[options] [<id | latest>]',
  help: `Shows for a sent message, or for all of them newest first, who opened and closed each copy, and when. "new" means that
nobody has opened it: it says nothing of whether it will be read.

  mail4agent receipts m4a_00000000002a9f3c51d07be4
  mail4agent receipts latest            what you sent last
  mail4agent receipts -n 10`,
  options: PAGE_OPTIONS,
  words: [0, 1],
  async run(context) {
    const client = await context.mailbox()
    const [word] = context.words
    const answer = await client.call('receipts', {
      message_id: word === undefined ? null : await sentIdOf(client, word),
      ...pageRequest(context.options),
    })
    const rows = answer.receipts.flatMap((receipt) =>
      receipt.deliveries.map((delivery) => [
        receipt.message_id,
        brief(delivery.to_text, context),
        stateText(delivery, answer.now),
        receipt.subject,
      ]),
    )
    const code = context.show(answer, () =>
      rows.length === 0 ? '' : context.table(['id', 'to', 'state', 'subject'], rows),
    )
    if (rows.length === 0 && !context.json) context.say('nothing sent yet')
    sayMore(context, answer)
    return code
  },
})
