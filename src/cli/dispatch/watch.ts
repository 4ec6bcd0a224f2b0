// mail4agent dispatch watch: what becomes of one dispatch, as it happens, until it is done; a restart of the mailbox is sat out.
import type { MailClient } from '../../client/client.ts'
import type { DispatchShowAnswer } from '../../wire/dispatch.ts'
import { defineCommand } from '../command.ts'
import { escapeLine } from '../escape.ts'
import { isRestart } from '../patient.ts'
import { dispatchId, stateText } from './text.ts'

/** What a run is at between two events (in a tool, stalled) is no event: it is looked at now and then. */
const LOOK_MS = 2_000
const RETRY_MS = 500

export const dispatchWatch = defineCommand({
  name: 'dispatch watch',
  summary: 'follow a dispatch until it is done',
  usage: '<number>',
  help: `Prints what a dispatch is at, a line for each change, until it is done, also across a restart of the mailbox. Exit code 0: it
was answered or ran; 1: it came to nothing.

  mail4agent dispatch watch 12`,
  options: {},
  words: [1, 1],
  async run(context) {
    const id = dispatchId(context.word(0, 'the number'))
    const over = new AbortController()
    const stop = AbortSignal.any([over.signal, context.io.stopSignal()])
    const client = await context.mailbox()
    const news = new News()
    stop.addEventListener('abort', () => news.tell())
    let said = ''
    let following: Promise<void> | null = null
    try {
      for (;;) {
        context.io.stopSignal().throwIfAborted()
        const answer = await shown(client, id, stop, following !== null)
        const line = watchLine(answer)
        if (line !== said) context.print(context.json ? `${JSON.stringify(answer)}\n` : `${escapeLine(line)}\n`)
        said = line
        const { state, outcome } = answer.dispatch
        if (state === 'done') return outcome === 'replied' || outcome === 'ran' || outcome === 'closed' ? 0 : 1
        following ??= follow(client, id, news, stop)
        await news.next(LOOK_MS)
      }
    } finally {
      over.abort()
      await following
    }
  },
})

/** Something may have changed: asked for one at a time, remembered while nobody asks. */
class News {
  #some = false
  #wake: () => void = () => {}

  tell(): void {
    this.#some = true
    this.#wake()
  }

  async next(ms: number): Promise<void> {
    if (!this.#some)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    this.#some = false
  }
}

/** Tells of every event of that dispatch, and of every beginning of the stream: something may have happened before it. */
async function follow(client: MailClient, id: number, news: News, stop: AbortSignal): Promise<void> {
  let cursor: string | null = null
  while (!stop.aborted) {
    try {
      for await (const event of client.events(cursor, stop)) {
        cursor = event.cursor
        if (event.kind === 'position' || ('dispatch' in event && event.dispatch === id)) news.tell()
      }
    } catch {
      // whatever is wrong is said by the look at the dispatch itself; a store that was restored counts anew
      cursor = null
    }
    if (!stop.aborted) await Bun.sleep(RETRY_MS)
  }
}

/** `begun`: it has answered before, so that its being away is a restart. */
async function shown(client: MailClient, id: number, signal: AbortSignal, begun: boolean): Promise<DispatchShowAnswer> {
  for (;;) {
    try {
      return await client.call('dispatch_show', { id }, { signal })
    } catch (error) {
      if (!begun || signal.aborted || !isRestart(error)) throw error
      await Bun.sleep(RETRY_MS)
    }
  }
}

function watchLine({ dispatch, attempts }: DispatchShowAnswer): string {
  const last = attempts.at(-1)
  if (dispatch.state === 'done') {
    const news = dispatch.reply ?? dispatch.bounce
    const why = dispatch.reason === null ? '' : `: ${dispatch.reason}`
    return `${dispatch.outcome}${why}${news === null ? '' : `; read: mail4agent view ${news}`}`
  }
  if (last?.ended_at != null)
    return `attempt ${last.number} ended: ${last.cause}${last.detail === null ? '' : `, ${last.detail}`}`
  return `${stateText(dispatch)}${last ? `, attempt ${last.number} (${last.mode})` : ''}`
}
