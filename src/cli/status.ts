// mail4agent status: how the mailbox fares, and this caller in it.
import { Refusal } from '../wire/refusal.ts'
import { defineCommand } from './command.ts'
import { anonymous } from './connect.ts'
import { healthFacts } from './health-text.ts'

export const status = defineCommand({
  name: 'status',
  summary: 'how the mailbox and your box in it fare',
  usage: '',
  help: `Shows whether the mailbox runs and is well, and who you are in it. To say what you work on: mail4agent status set.

  mail4agent status
  mail4agent status set --working-on "the parser"`,
  options: {},
  words: [0, 0],
  async run(context) {
    const health = await anonymous(context.place).health()
    const me = await context
      .mailbox()
      .then((client) => client.call('whoami', {}))
      .catch((error) => {
        if (error instanceof Refusal) return error
        throw error
      })
    const isKnown = !(me instanceof Refusal)
    context.show({ health, whoami: isKnown ? me : null, ...(isKnown ? {} : { refusal: me.toJSON() }) }, () =>
      context.facts([
        ...healthFacts(health),
        ['you', isKnown ? me.address_text : `${me.message}; ${me.hint}`],
        ['not closed', isKnown ? String(me.unread) : null],
      ]),
    )
    return health.ok ? 0 : 1
  },
})
