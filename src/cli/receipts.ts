// mail4agent receipts: who opened and closed what was sent.
import { defineCommand } from './command.ts'
import { escapeLine } from './escape.ts'
import { sentIdOf } from './latest.ts'
import { briefState, recipientOf, stateText } from './letter.ts'
import { PAGE_OPTIONS, pageRequest, sayMore } from './page.ts'
import { cut } from './table.ts'

export const receipts = defineCommand({
  name: 'receipts',
  summary: 'what became of what you sent',
  usage: '[options] [<id | latest>]',
  help: `Shows for a sent message, or for all of them newest first, who opened and closed each copy, and when. "new" means that
nobody has opened it: it says nothing of whether it will be read. Each copy has a line, in a room one for each member; --limit
counts messages.

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
    const isPipe = context.io.outColumns === null
    const head = ['id', 'to', 'state', 'subject', ...(isPipe ? [] : ['by'])]
    const rows = answer.receipts.flatMap(({ message_id, subject, deliveries }) =>
      deliveries.map((delivery) => {
        const [state, by] = isPipe ? [stateText(delivery, answer.now), null] : briefState(delivery, answer.now, context)
        const to = recipientOf(delivery, context)
        return by === null ? [message_id, to, state, subject] : [message_id, to, state, cutSubject(subject), by]
      }),
    )
    const code = context.show(answer, () => (rows.length === 0 ? '' : context.table(head, rows)))
    if (rows.length === 0 && !context.json) context.say('nothing sent yet')
    sayMore(context, answer)
    return code
  },
})

/** On a terminal it leaves room for who did it. */
const cutSubject = (subject: string): string => cut(escapeLine(subject), 20)
