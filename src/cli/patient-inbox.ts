// One inbox call that may wait for hours: the door holds it for a minute, so it is asked again, also across a restart.
import type { MailClient } from '../client/client.ts'
import type { InboxAnswer } from '../wire/answers.ts'
import { LIMITS } from '../wire/limits.ts'
import { Refusal } from '../wire/refusal.ts'
import type { InboxRequest } from '../wire/requests.ts'
import type { Context } from './context.ts'
import { span } from './times.ts'

/** A restart of the mailbox takes seconds; after this it is gone. */
const RESTART_MS = 30_000

/**
 * The first answer that has mail, or the last one when `waitSeconds` are over (Infinity: never) or we are stopped.
 * @throws Refusal `daemon_unreachable` at once when the first call finds nobody, later when it stays away for 30 s; Stopped
 */
export async function patientInbox(
  context: Context,
  client: MailClient,
  request: InboxRequest,
  waitSeconds: number,
): Promise<InboxAnswer> {
  if (waitSeconds === 0) return client.call('inbox', request)
  const signal = context.io.stopSignal()
  const until = performance.now() + waitSeconds * 1_000
  context.progress(
    `waiting for mail${Number.isFinite(waitSeconds) ? `, ${span(waitSeconds)} at most` : ''} (Ctrl-C ends it)`,
  )
  let asked = request
  for (let first = true; ; first = false) {
    const left = Math.max(0, Math.ceil((until - performance.now()) / 1_000))
    const held = { ...asked, wait_secs: Math.min(left, LIMITS.waitHttp) }
    const answer = await (first ? client.call('inbox', held, { signal }) : again(context, client, held, signal))
    if (answer.messages.length > 0 || performance.now() >= until) return answer
    // much that is not ours to see lies there: go on behind it
    if (answer.has_more && answer.cursor !== null) asked = { ...asked, cursor: answer.cursor }
  }
}

async function again(
  context: Context,
  client: MailClient,
  request: InboxRequest,
  signal: AbortSignal,
): Promise<InboxAnswer> {
  for (const giveUp = performance.now() + RESTART_MS; ; await Bun.sleep(500)) {
    signal.throwIfAborted()
    try {
      return await client.call('inbox', request, { signal })
    } catch (error) {
      if (!isRestart(error) || performance.now() > giveUp) throw error
      context.progress('the mailbox is away; trying again')
    }
  }
}

/** The mailbox is stopping or not there: it may come back. */
export const isRestart = (error: unknown): boolean =>
  error instanceof Refusal && ['daemon_unreachable', 'shutting_down'].includes(error.kind)
