// mail4agent archive: closed mail, newest first.
import { defineCommand } from './command.ts'
import { letterTable, letterText } from './letter.ts'
import { listOf, PAGE_OPTIONS, pageRequest, sayMore } from './page.ts'
import { MOMENTS, moment } from './usage.ts'

export const archive = defineCommand({
  name: 'archive',
  summary: 'list closed mail, newest first',
  usage: '[options]',
  help: `Lists your mail that is closed, newest first. It stays there for as long as the mailbox keeps it (mail4agent help admin
retention); mail4agent reopen puts one back.

  mail4agent archive
  mail4agent archive --from claude --since 7d
  mail4agent archive --room build --until 30d --full`,
  options: {
    from: { short: 'f', value: 'WHO', help: 'only what this account, session or alias wrote' },
    room: { value: 'ROOM', help: 'only what was sent to that room' },
    since: { value: 'TIME', help: `only of the last, or since: ${MOMENTS}` },
    until: { value: 'TIME', help: 'only what is older than that: the same' },
    full: { help: 'whole letters instead of a table' },
    ...PAGE_OPTIONS,
  },
  words: [0, 0],
  async run(context) {
    const { from, room, since, until, full } = context.options
    const ago = (option: string, text: string | undefined) =>
      text === undefined ? null : moment(option, text, context.io.now())
    const request = {
      written_by: from?.replace(/^@/, '') ?? null,
      room: room?.replace(/^#/, '') ?? null,
      since_unix_ms: ago('--since', since),
      until_unix_ms: ago('--until', until),
      ...pageRequest(context.options),
    }
    const client = await context.mailbox()
    const answer = await listOf(
      !full && !context.json,
      request,
      (asked) => client.call('archive', asked),
      (page) => page.messages,
    )
    const code = context.show(answer, () => {
      if (full) return answer.messages.map((message) => letterText(message, answer.now, context)).join('\n')
      return answer.messages.length === 0 ? '' : letterTable(answer.messages, context)
    })
    if (answer.messages.length === 0 && !context.json)
      context.say(answer.has_more ? 'nothing in this part' : 'nothing here')
    sayMore(context, answer)
    return code
  },
})
