// m4a_mail_hook: the tool that clients' hooks call. It is callable and not listed: models have no use for it.

import { Value } from '@sinclair/typebox/value'
import { hookOutput, momentOf, NOTICED, startsTurn } from '../../delivery/notices.ts'
import type { Patience } from '../../engine/mail.ts'
import type { Said } from '../../identity/identify.ts'
import { NoticeAnswer } from '../../wire/answers.ts'
import { isRecord } from './rpc.ts'
import type { ToolResult } from './table.ts'
import type { MailVisitor } from './tools.ts'

/**
 * `client` and `event` name the hook; whatever else a client sends along is not looked at. Answers what the hook prints as
 * text: that is what a client does with the result of a hook that is a tool. A refusal prints nothing: mail that cannot be
 * asked for is no reason to disturb a turn.
 */
export async function runHook(
  args: unknown,
  said: Said,
  patience: Patience,
  visitor: Pick<MailVisitor, 'perform'>,
): Promise<ToolResult> {
  const { client, event } = isRecord(args) ? args : {}
  const known = NOTICED.find((name) => name === client)
  if (known === undefined || typeof event !== 'string') return printed('')
  try {
    // Claude Code runs it at /clear and /resume too, when it has written down another session
    const now: Said = momentOf(event) === 'start' ? { ...said, anew: true } : said
    const request = { starts_turn: startsTurn(event), moment: momentOf(event) }
    const answer = await visitor.perform('notice', request, now, patience)
    return printed(Value.Check(NoticeAnswer, answer) ? hookOutput(known, event, answer) : '')
  } catch {
    return printed('')
  }
}

const printed = (text: string): ToolResult => ({ content: text === '' ? [] : [{ type: 'text', text }] })
