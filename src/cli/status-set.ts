// mail4agent status set: what this session says about itself.
import { cardFacts } from './card-text.ts'
import { defineCommand } from './command.ts'

export const statusSet = defineCommand({
  name: 'status set',
  summary: 'declare what this session works on',
  usage: '[options]',
  help: `Writes the declared part of this session's card, which peers see. What is left out is cleared.

  mail4agent status set --working-on "store: group commit" --role backend
  mail4agent status set                 clears it`,
  options: {
    'working-on': { value: 'TEXT', help: 'what you work on, one line' },
    role: { value: 'TEXT', help: 'your role, one line' },
    parent: { value: 'SESSION', help: 'the session that you work for, s-…' },
  },
  words: [0, 0],
  async run(context) {
    const { options } = context
    const client = await context.mailbox()
    const answer = await client.call('status', {
      working_on: options['working-on'] ?? null,
      role: options.role ?? null,
      parent: options.parent ?? null,
    })
    context.show(answer, () => context.facts(cardFacts(answer.card)))
    if (!context.json && answer.card.attested.pid === process.pid)
      context.say(
        'no agent runs this, so the session that says it ends with this command; say it from within the agent',
      )
    return 0
  },
})
