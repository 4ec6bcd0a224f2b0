// mail4agent ping: is anybody reading that mailbox.
import { defineCommand } from './command.ts'
import { clockAndAge, span } from './times.ts'

export const ping = defineCommand({
  name: 'ping',
  summary: 'is anybody reading that mailbox',
  usage: '<address>',
  help: `Asks the mailbox, not the agent: how many live sessions, when one was seen last, how much it has not closed, and whether
somebody waits for mail right now.

  mail4agent ping codex`,
  options: {},
  words: [1, 1],
  async run(context) {
    const client = await context.mailbox()
    const answer = await client.call('ping', { target: context.word(0, 'the address') })
    const oldest = answer.oldest_unread_age_secs
    return context.show(answer, () =>
      context.facts([
        ['mailbox', answer.target_text],
        ['live sessions', String(answer.live_sessions)],
        ['waiting now', String(answer.waiting)],
        ['last seen', answer.last_seen === null ? 'never' : clockAndAge(answer.last_seen, answer.now)],
        ['not closed', oldest === null ? String(answer.unread) : `${answer.unread}, the oldest ${span(oldest)} old`],
        ['warning', answer.warning],
      ]),
    )
  },
})
