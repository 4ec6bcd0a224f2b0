// mail4agent whoami: as whom this command acts.
import { findToken } from './account.ts'
import { cardFacts } from './card-text.ts'
import { defineCommand } from './command.ts'
import { explainFacts } from './explain-text.ts'

export const whoami = defineCommand({
  name: 'whoami',
  summary: 'your address, capabilities, rooms and card',
  usage: '',
  help: `Shows as whom the mailbox knows you: the address that others answer to, what the account may do, its rooms, and the card of
this session. "attested" comes from the kernel, "found" was read from the process, "says" is what the session wrote itself.
A command run in an agent's shell acts as that agent's session.

  mail4agent whoami
  mail4agent whoami --as operator
  mail4agent whoami --explain           how the mailbox came to that, step by step`,
  options: { explain: { help: 'show the evidence: connection, process, what is above it, token, session' } },
  words: [0, 0],
  async run(context) {
    const client = await context.mailbox()
    const { explain, as } = context.options
    const answer = await client.call('whoami', explain ? { explain } : {})
    const { io, place } = context
    const above = async () => (await import('./agent-above.ts')).agentAbove(io)
    const from = explain ? (await findToken({ as, dataDir: place.dataDir, io }, above)).source : null
    const evidence = answer.explain && from !== null ? explainFacts(answer.explain, from) : []
    return context.show(from === null ? answer : { ...answer, token_from: from }, () =>
      context.facts([
        ['address', answer.address_text],
        ['label', answer.label],
        ['may', answer.capabilities.join(', ')],
        ['rooms', answer.rooms.map((room) => `#${room}`).join(', ')],
        ['not closed', String(answer.unread)],
        ...(answer.card === null ? [] : cardFacts(answer.card)),
        ...evidence,
      ]),
    )
  },
})
