// mail4agent dispatch: a letter whose recipient is started to handle it; and wake, a start without a letter.
import { readBody } from '../body.ts'
import { defineCommand } from '../command.ts'
import { escapeLine } from '../escape.ts'
import { sentText } from '../sent-text.ts'
import { usage } from '../usage.ts'
import { agentName, dispatchedLine } from './text.ts'

const FRESH = { fresh: { help: 'in a new session instead of the one where it left off in that folder' } } as const

export const dispatch = defineCommand({
  name: 'dispatch',
  summary: 'send a message and start its recipient to handle it',
  usage: '[options] <agent> <subject> <body | ->',
  help: `Sends a message to an account that has a profile (mail4agent agent add), and has it started to handle it: in order, one at
a time, watched until it has answered. Its answer comes to you on the thread; when it comes to nothing, a letter says why.

  mail4agent dispatch @backend "Queue" "does a full queue refuse by name? answer with the line"
  mail4agent dispatch backend "Patch" --fresh - < patch.diff
  mail4agent dispatch status

The others: dispatch wake, status, show, watch, logs, stop, pause, resume, attend.`,
  options: {
    ...FRESH,
    file: { short: 'f', value: 'FILE', help: 'read the body from a file' },
    key: { value: 'KEY', help: 'idempotency key: a repeated dispatch with it is one' },
  },
  words: [2, 3],
  async run(context) {
    const { options, io } = context
    if (options.file === undefined && context.words.length < 3)
      throw usage('the body is missing', 'give it as the last word, as - for standard input, or with --file')
    const body = await readBody(context.words[2], options.file, io)
    const client = await context.mailbox()
    const answer = await client.call('send', {
      to: agentName(context.word(0, 'the agent')),
      subject: context.word(1, 'the subject'),
      body,
      dispatch: options.fresh ? 'fresh' : 'resume',
      idempotency_key: options.key ?? null,
    })
    const code = sentText(context, answer)
    if (!context.json && answer.dispatch) context.say(escapeLine(dispatchedLine(answer.dispatch)))
    return code
  },
})

export const dispatchWake = defineCommand({
  name: 'dispatch wake',
  summary: 'start an agent to look at its mail',
  usage: '[options] <agent>',
  help: `Has an agent started without a letter, to look at what lies in its mailbox.

  mail4agent dispatch wake @backend`,
  options: FRESH,
  words: [1, 1],
  async run(context) {
    const client = await context.mailbox()
    const target = agentName(context.word(0, 'the agent'))
    const answer = await client.call('dispatch_wake', { target, fresh: context.options.fresh })
    return context.show(answer, () => `${escapeLine(dispatchedLine(answer.dispatch))}\n`)
  },
})
