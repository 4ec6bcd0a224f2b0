// mail4agent reopen: closed mail back into the inbox.
import { LIMITS } from '../wire/limits.ts'
import { settledExit, settledText } from './batch.ts'
import { defineCommand } from './command.ts'
import { idsOf } from './latest.ts'

export const reopen = defineCommand({
  name: 'reopen',
  summary: 'put closed messages back',
  usage: '<id | latest>…',
  help: `Takes messages back that were closed: they are in the inbox again.

  mail4agent inbox --state closed --since 1d
  mail4agent reopen m4a_00000000002a9f3c51d07be4
  mail4agent reopen latest              the newest of your mail that is closed`,
  options: {},
  words: [1, LIMITS.batch],
  async run(context) {
    const client = await context.mailbox()
    const answer = await client.call('reopen', {
      message_ids: await idsOf(client, context.words, context.io.now(), ['closed']),
    })
    context.show(answer, () => settledText('reopened', answer.results))
    if (!context.json) context.say(`${answer.unread} not closed`)
    return settledExit(context, answer.results)
  },
})
