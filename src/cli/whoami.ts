// mail4agent whoami: as whom this command acts.
import { cardFacts } from './card-text.ts'
import { defineCommand } from './command.ts'

export const whoami = defineCommand({
  name: 'whoami',
  summary: 'your address, capabilities, rooms and card',
  usage: '',
  help: `Shows as whom the mailbox knows you: the address that others answer to, what the account may do, its rooms, and the card of
this session. "attested" comes from the kernel, "found" was read from the process, "says" is what the session wrote itself.
A command run in an agent's shell acts as that agent's session.

  mail4agent whoami
  mail4agent whoami --as operator`,
  options: {},
  words: [0, 0],
  async run(context) {
    const client = await context.mailbox()
    const answer = await client.call('whoami', {})
    return context.show(answer, () =>
      context.facts([
        ['address', answer.address_text],
        ['label', answer.label],
        ['may', answer.capabilities.join(', ')],
        ['rooms', answer.rooms.map((room) => `#${room}`).join(', ')],
        ['not closed', String(answer.unread)],
        ...(answer.card === null ? [] : cardFacts(answer.card)),
      ]),
    )
  },
})
