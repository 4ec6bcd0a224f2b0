// mail4agent top: the overview, live on a terminal, once in a pipe.
import type { MailClient } from '../client/client.ts'
import type { OverviewAnswer } from '../wire/overview.ts'
import { Refusal } from '../wire/refusal.ts'
import { defineCommand } from './command.ts'
import type { Context } from './context.ts'
import { openScreen } from './screen.ts'
import { cut } from './table.ts'
import { topText } from './top-text.ts'

export const top = defineCommand({
  name: 'top',
  summary: 'who is live and what lies unread, live on the terminal',
  usage: '',
  help: `Shows every account: how many of its sessions live, what lies unread there and for how long, who waits for mail, how its
doorbell does. On a terminal it goes on as things happen, and outlives a restart of the mailbox: q ends it. In a pipe, and with
--json, it says so once. For operators.

  mail4agent top
  mail4agent top --json | jq '.accounts[] | select(.unread > 0) | .id'`,
  options: {},
  words: [0, 0],
  async run(context) {
    const client = await context.operator()
    if (context.json || context.io.outColumns === null) {
      const answer = await readOverview(client)
      return context.show(answer, () =>
        topText(answer, null, context.paint)
          .map((line) => `${line}\n`)
          .join(''),
      )
    }
    return live(context, client)
  },
})

async function readOverview(client: MailClient): Promise<OverviewAnswer> {
  const answer = await client.admin('overview', { limit: 256 })
  for (let page = answer; page.has_more; ) {
    page = await client.admin('overview', { limit: 256, after: page.after })
    answer.accounts.push(...page.accounts)
    Object.assign(answer, { has_more: page.has_more, after: page.after })
  }
  return answer
}

/** Milliseconds: drawn and read at most four times a second, and at least as often as processes are looked for. */
const FRAME_MS = 250
const LOOK_MS = 2_000
const RETRY_MS = 1_000

/** Until q or Ctrl-C; a signal ends it as it ends every command. */
async function live(context: Context, client: MailClient): Promise<number> {
  const { io, paint } = context
  const quit = new AbortController()
  const stop = AbortSignal.any([quit.signal, io.stopSignal()])
  let answer = await readOverview(client) // what is refused is said on the usual screen
  let trouble: Refusal | null = null
  let stale = false
  const screen = openScreen(
    io.out,
    (key) => (key === 'q' || key === '\x03') && quit.abort(),
    () => draw(),
  )
  const draw = () => {
    const { columns, rows } = screen.size
    const foot =
      trouble === null ? paint('dim', 'q quits') : paint('red', cut(`${trouble.message}; trying again`, columns))
    const lines = topText(answer, { columns, rows }, paint)
    screen.draw([...lines.slice(0, rows - 1), foot])
  }
  const follow = async () => {
    while (!stop.aborted) {
      try {
        for await (const { kind } of client.events(null, stop)) if (kind !== 'position') stale = true
      } catch (error) {
        if (!stop.aborted && !(error instanceof Refusal)) throw error
      }
      await pause(RETRY_MS, stop)
    }
  }
  const following = follow()
  try {
    for (let looked = 0; !stop.aborted; await pause(FRAME_MS, stop)) {
      if (!stale && Date.now() - looked < LOOK_MS && looked > 0) continue
      stale = false
      looked = Date.now()
      try {
        answer = await readOverview(client)
        trouble = null
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        trouble = error
      }
      if (!stop.aborted) draw()
    }
  } finally {
    screen.close()
    quit.abort()
    await following
    client.close()
  }
  if (io.stopSignal().aborted) throw io.stopSignal().reason
  return 0
}

/** `ms`, or until `signal`. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(resolve, ms)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true },
    )
  })
}
