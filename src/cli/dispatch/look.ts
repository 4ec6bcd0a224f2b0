// mail4agent dispatch status, show, logs: what was asked for, what runs, what came of it.
import type { DispatchLogsAnswer } from '../../wire/dispatch.ts'
import { defineCommand } from '../command.ts'
import { escapeLine, escapeText } from '../escape.ts'
import { usage, wholeNumber } from '../usage.ts'
import { dispatchId, dispatchTable, dispatchText } from './text.ts'

const LOOK_MS = 500

export const dispatchStatus = defineCommand({
  name: 'dispatch status',
  summary: 'list dispatches, newest first',
  usage: '[options]',
  help: `Lists the dispatches that you asked for or that are yours to do; an operator sees all.

  mail4agent dispatch status
  mail4agent dispatch status --failed      what came to nothing`,
  options: {
    failed: { help: 'only what came to nothing' },
    limit: { short: 'n', value: 'N', help: 'at most so many (20)' },
  },
  words: [0, 0],
  async run(context) {
    const { failed, limit } = context.options
    const client = await context.mailbox()
    const answer = await client.call('dispatch_status', {
      failed,
      limit: limit === undefined ? null : wholeNumber('--limit', limit, 1, 256),
    })
    context.show(answer, () => dispatchTable(answer.dispatches, context))
    if (context.json) return 0
    if (answer.paused !== null) context.say(escapeLine(`nothing is started: ${answer.paused}`))
    for (const { id, paused } of answer.agents)
      if (paused !== null) context.say(escapeLine(`${id} is not started: ${paused}`))
    if (answer.has_more) context.say('and older ones')
    return 0
  },
})

export const dispatchShow = defineCommand({
  name: 'dispatch show',
  summary: 'one dispatch with its attempts',
  usage: '<number>',
  help: `Shows one dispatch: its state, each attempt, what it ended with and what it cost where the client tells.

  mail4agent dispatch show 12`,
  options: {},
  words: [1, 1],
  async run(context) {
    const client = await context.mailbox()
    const answer = await client.call('dispatch_show', { id: dispatchId(context.word(0, 'the number')) })
    return context.show(answer, () => dispatchText(answer.dispatch, answer.attempts, answer.now, context))
  },
})

export const dispatchLogs = defineCommand({
  name: 'dispatch logs',
  summary: 'what an attempt printed',
  usage: '[options] <number>',
  help: `Prints what the newest attempt of a dispatch printed, without secrets.

  mail4agent dispatch logs 12
  mail4agent dispatch logs 12 --attempt 1 --errors
  mail4agent dispatch logs 12 --follow`,
  options: {
    attempt: { value: 'N', help: 'this attempt instead of the newest' },
    errors: { help: 'standard error instead of standard output' },
    follow: { help: 'go on until the attempt has ended' },
  },
  words: [1, 1],
  async run(context) {
    const { attempt, errors, follow } = context.options
    if (follow && context.json) throw usage('--follow prints text, not JSON')
    const id = dispatchId(context.word(0, 'the number'))
    const client = await context.mailbox()
    const ask = (offset: number) =>
      client.call('dispatch_logs', {
        id,
        attempt: attempt === undefined ? null : wholeNumber('--attempt', attempt, 1),
        stream: errors ? 'err' : 'out',
        offset,
      })
    if (context.json) return context.show(await ask(0), () => '')
    await printLog(ask, follow, (text) => context.print(context.io.outColumns === null ? text : escapeText(text)))
    return 0
  },
})

async function printLog(
  ask: (offset: number) => Promise<DispatchLogsAnswer>,
  follow: boolean,
  print: (text: string) => void,
): Promise<void> {
  for (let offset = 0; ; ) {
    const part = await ask(offset)
    if (part.text !== '') print(part.text)
    offset = part.offset
    if (part.has_more) continue
    if (!follow || !part.running) return
    await Bun.sleep(LOOK_MS)
  }
}
