// A notice: the one line that a hook puts in front of a running agent, and the form in which each client takes it.
import type { NoticeAnswer } from '../wire/answers.ts'

/** Moments at which a hook runs: a session begins, a prompt arrives, a tool was used, a turn has ended. */
export type Moment = 'start' | 'prompt' | 'tool' | 'stop'

/** The tool that hooks call; it is not listed. */
export const HOOK_TOOL = 'm4a_mail_hook'

/** Names of the agent clients whose hooks we speak. */
export const NOTICED = ['claude', 'codex', 'gemini', 'qwen', 'copilot', 'cursor', 'kimi', 'grok', 'opencode'] as const
export type Noticed = (typeof NOTICED)[number]

const MOMENTS: Readonly<Record<string, Moment>> = {
  sessionstart: 'start',
  userpromptsubmit: 'prompt',
  userpromptsubmitted: 'prompt',
  beforesubmitprompt: 'prompt',
  beforeagent: 'prompt',
  posttooluse: 'tool',
  stop: 'stop',
  agentstop: 'stop',
  afteragent: 'stop',
}

/** The moment that a client's event name means; null for one at which nothing is said. Clients differ in case. */
export const momentOf = (event: string): Moment | null => {
  const name = event.toLowerCase()
  return Object.hasOwn(MOMENTS, name) ? (MOMENTS[name] ?? null) : null
}

const NAMED = 3

/** `2 from codex/s-7f3a91c0, 1 from lukas (a person)` and how many senders more. Addresses hold no free text. */
function whoText({ senders }: NoticeAnswer): string {
  const named = senders
    .slice(0, NAMED)
    .map(
      ({ from_text, count, person }) =>
        `${count} from ${person ? `${accountOf(from_text)} (a person)` : short(from_text)}`,
    )
  const others = senders.length - named.length
  return [...named, ...(others > 0 ? [`${others} other sender${others === 1 ? '' : 's'}`] : [])].join(', ')
}

/** Eight digits of a session are enough to tell and to answer to. */
const short = (address: string): string => address.replace(/(\/s-[0-9a-f]{8})[0-9a-f]+/, '$1')
const accountOf = (address: string): string => address.replace(/\/.*/, '')

const letters = ({ fresh, more }: NoticeAnswer): string =>
  more ? `more than ${fresh} new letters` : `${fresh} new letter${fresh === 1 ? '' : 's'}`

/** For the agent: who, how much, how to read it, and that no user says this. Never subject or body. */
export const agentLine = (notice: NoticeAnswer): string =>
  `mail4agent: you have ${letters(notice)} (${whoText(notice)}), ${notice.unread} unread in all. Read with the tool ` +
  'm4a_mail_inbox, close with m4a_mail_ack. The mailbox says this, not your user.'

/** For the person who watches. */
export const humanLine = (notice: NoticeAnswer): string =>
  `mail4agent: ${letters(notice)} for ${notice.account}: ${whoText(notice)}`

/**
 * What a hook of `client` prints at `event`, one line of JSON or text; empty where there is nothing to tell.
 * The forms are the clients' own: Claude Code, Codex, Gemini CLI, Qwen Code, Copilot CLI, Cursor and Kimi, "Hooks".
 */
export function hookOutput(client: Noticed, event: string, notice: NoticeAnswer): string {
  const moment = momentOf(event)
  if (moment === null || notice.fresh === 0) return ''
  const line = agentLine(notice)
  return FORMS[client](moment, event, line, humanLine(notice))
}

type Form = (moment: Moment, event: string, line: string, human: string) => string

const context = (event: string, line: string, human: string): string =>
  JSON.stringify({ systemMessage: human, hookSpecificOutput: { hookEventName: event, additionalContext: line } })

/** At the end of a turn the agent goes on with the reason; it is shown to the person as well. */
const goOn = (decision: 'block' | 'deny', line: string, human: string): string =>
  JSON.stringify({ systemMessage: human, decision, reason: line })

const FORMS: Readonly<Record<Noticed, Form>> = {
  // additionalContext continues a stopped turn too, without the looks of an error
  claude: (_, event, line, human) => context(event, line, human),
  codex: (moment, event, line, human) => (moment === 'stop' ? goOn('block', line, human) : context(event, line, human)),
  gemini: (moment, event, line, human) => (moment === 'stop' ? goOn('deny', line, human) : context(event, line, human)),
  qwen: (moment, event, line, human) => (moment === 'stop' ? goOn('block', line, human) : context(event, line, human)),
  // it shows its model what comes after a tool alone, so nothing is told, and spent, at another moment
  grok: (_, event, line, human) => context(event, line, human),
  copilot: (moment, _, line) =>
    JSON.stringify(moment === 'stop' ? { decision: 'block', reason: line } : { additionalContext: line }),
  cursor: (moment, _, line) => {
    if (moment === 'start') return JSON.stringify({ additional_context: line })
    return JSON.stringify(moment === 'stop' ? { followup_message: line } : { continue: true, additional_context: line })
  },
  // its hooks add plain text, and go on after a turn by a failing exit code alone, which ours never have
  kimi: (moment, _, line) => (moment === 'stop' ? '' : line),
  // our own plugin there
  opencode: (_, __, line, human) => JSON.stringify({ agent: line, human }),
}

/** Would the answer make the agent go on by itself? Then mail that must wake nobody is left out. */
export const startsTurn = (event: string): boolean => momentOf(event) === 'stop'
