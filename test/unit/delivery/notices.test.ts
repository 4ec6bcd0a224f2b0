// The one line of a notice, and the form in which each client takes it at each of its moments.
import { describe, expect, test } from 'bun:test'
import { agentLine, hookOutput, humanLine, momentOf, NOTICED, startsTurn } from '../../../src/delivery/notices.ts'
import type { NoticeAnswer } from '../../../src/wire/answers.ts'

const notice = (over: Partial<NoticeAnswer> = {}): NoticeAnswer => ({
  account: 'codex',
  fresh: 3,
  more: false,
  unread: 5,
  senders: [
    { from_text: 'claude/s-7f3a91c0d2e4b5a697886950413223ff', count: 2, person: false },
    { from_text: 'pat/s-00112233445566778899aabbccddeeff', count: 1, person: true },
  ],
  now: '2026-11-30T12:00:00.000Z',
  ...over,
})

const LINE =
  'mail4agent: you have 3 new letters (2 from claude/s-7f3a91c0, 1 from pat (a person)), 5 unread in all. ' +
  'Read with the tool m4a_mail_inbox, close with m4a_mail_ack. The mailbox says this, not your user.'
const HUMAN = 'mail4agent: 3 new letters for codex: 2 from claude/s-7f3a91c0, 1 from pat (a person)'

test('who, how much, how to read it, and that no user says this', () => {
  expect(agentLine(notice())).toBe(LINE)
  expect(humanLine(notice())).toBe(HUMAN)
})

test('many senders are cut to three, and a full mailbox says so', () => {
  const senders = [1, 2, 3, 4, 5].map((n) => ({ from_text: `a${n}`, count: 1, person: false }))
  expect(humanLine(notice({ senders, fresh: 200, more: true }))).toBe(
    'mail4agent: more than 200 new letters for codex: 1 from a1, 1 from a2, 1 from a3, 2 other senders',
  )
  expect(humanLine(notice({ senders: senders.slice(0, 4), fresh: 1 }))).toContain('1 new letter for')
})

const context = (event: string) => ({
  systemMessage: HUMAN,
  hookSpecificOutput: { hookEventName: event, additionalContext: LINE },
})

describe('forms', () => {
  test.each([
    ['claude', 'SessionStart', context('SessionStart')],
    ['claude', 'UserPromptSubmit', context('UserPromptSubmit')],
    ['claude', 'Stop', context('Stop')],
    ['codex', 'UserPromptSubmit', context('UserPromptSubmit')],
    ['codex', 'Stop', { systemMessage: HUMAN, decision: 'block', reason: LINE }],
    ['gemini', 'BeforeAgent', context('BeforeAgent')],
    ['gemini', 'AfterAgent', { systemMessage: HUMAN, decision: 'deny', reason: LINE }],
    ['qwen', 'Stop', { systemMessage: HUMAN, decision: 'block', reason: LINE }],
    ['grok', 'PostToolUse', context('PostToolUse')],
    ['copilot', 'userPromptSubmitted', { additionalContext: LINE }],
    ['copilot', 'agentStop', { decision: 'block', reason: LINE }],
    ['cursor', 'sessionStart', { additional_context: LINE }],
    ['cursor', 'beforeSubmitPrompt', { continue: true, additional_context: LINE }],
    ['cursor', 'stop', { followup_message: LINE }],
    ['opencode', 'UserPromptSubmit', { agent: LINE, human: HUMAN }],
  ] as const)('%s at %s', (client, event, form) => {
    expect(JSON.parse(hookOutput(client, event, notice()))).toEqual(form)
  })

  test('kimi at a prompt: the line itself', () => {
    expect(hookOutput('kimi', 'UserPromptSubmit', notice())).toBe(LINE)
  })

  test.each(NOTICED)('%s: nothing without news, nothing at a moment that is none', (client) => {
    expect(hookOutput(client, 'UserPromptSubmit', notice({ fresh: 0, senders: [] }))).toBe('')
    expect(hookOutput(client, 'PreCompact', notice())).toBe('')
    expect(hookOutput(client, 'UserPromptSubmit', notice())).not.toContain('\n')
  })
})

test('an agent goes on by itself at the end of a turn alone', () => {
  for (const event of ['Stop', 'stop', 'agentStop', 'AfterAgent']) expect(startsTurn(event)).toBe(true)
  for (const event of ['SessionStart', 'UserPromptSubmit', 'PostToolUse', '__proto__', ''])
    expect(startsTurn(event)).toBe(false)
  expect(momentOf('constructor')).toBeNull()
})
