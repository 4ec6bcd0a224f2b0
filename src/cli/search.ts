// mail4agent search: words in mail that the caller may read.
import { defineCommand } from './command.ts'
import { idOf } from './latest.ts'
import { letterTable, letterText } from './letter.ts'
import { listOf, PAGE_OPTIONS, pageRequest, sayMore } from './page.ts'
import { MOMENTS, moment, oneOf, usage } from './usage.ts'

const STATES = ['new', 'opened', 'closed'] as const
const BOXES = ['received', 'sent'] as const

export const search = defineCommand({
  name: 'search',
  summary: 'find words in your mail, closed and sent too',
  usage: '[options] [<word>…]',
  help: `Finds messages with all the words in subject or body, newest first: received and sent, open and closed. Options narrow it;
with one of them the words may be left out.

  mail4agent search migration index
  mail4agent search '"exact words"' --full
  mail4agent search --from codex --state opened --since 2d
  mail4agent search green --to '#build' --until 7d`,
  options: {
    from: { short: 'f', value: 'WHO', help: 'written by this account, session or alias' },
    to: { value: 'ADDRESS', help: 'sent to this account, session, room or alias' },
    state: { value: 'STATE', help: `your copy is ${STATES.join(', ')}` },
    box: { value: 'BOX', help: BOXES.join(' or ') },
    thread: { value: 'ID', help: 'of the thread that this message belongs to' },
    since: { value: 'TIME', help: `of the last, or since: ${MOMENTS}` },
    until: { value: 'TIME', help: 'before that: the same' },
    full: { help: 'whole letters instead of a table' },
    ...PAGE_OPTIONS,
  },
  words: [0, 100],
  async run(context) {
    const { from, to, state, box, thread, since, until } = context.options
    const now = context.io.now()
    const filter = {
      ...(from === undefined ? {} : { written_by: from }),
      ...(to === undefined ? {} : { to }),
      ...(state === undefined ? {} : { state: oneOf('--state', state, STATES) }),
      ...(box === undefined ? {} : { box: oneOf('--box', box, BOXES) }),
      ...(since === undefined ? {} : { since_unix_ms: moment('--since', since, now) }),
      ...(until === undefined ? {} : { until_unix_ms: moment('--until', until, now) }),
    }
    const { words } = context
    if (words.length === 0 && thread === undefined && Object.keys(filter).length === 0)
      throw usage('search: neither words nor options are given', 'give words, or options that narrow it')
    const client = await context.mailbox()
    const answer = await listOf(
      !context.options.full && !context.json,
      {
        ...(words.length === 0 ? {} : { query: words.join(' ') }),
        ...filter,
        ...(thread === undefined ? {} : { thread: await idOf(client, thread, now) }),
        ...pageRequest(context.options),
      },
      (asked) => client.call('search', asked),
      (page) => page.messages,
    )
    const code = context.show(answer, () => {
      if (answer.messages.length === 0) return ''
      if (!context.options.full) return letterTable(answer.messages, context)
      return answer.messages.map((message) => letterText(message, answer.now, context)).join('\n')
    })
    if (answer.messages.length === 0 && !context.json) context.say('nothing found')
    sayMore(context, answer)
    return code
  },
})
