// The parts that decide: how output is read, what an ending is called, what follows it, what is passed on and what is blotted out.
import { describe, expect, test } from 'bun:test'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AttemptRow, Cause } from '../../../../src/store/dispatch/rows.ts'
import { claim, filesOf, readClaim } from '../../../../src/wake/dispatch/attempt-files.ts'
import { classify, type Ending } from '../../../../src/wake/dispatch/classify.ts'
import { environmentOf, secretsIn } from '../../../../src/wake/dispatch/environment.ts'
import { evidenceIn } from '../../../../src/wake/dispatch/evidence.ts'
import { nextAfter, planOf } from '../../../../src/wake/dispatch/next.ts'
import { providerNamed } from '../../../../src/wake/dispatch/providers/all.ts'
import { nothingYet, type Provider } from '../../../../src/wake/dispatch/providers/provider.ts'
import { redact } from '../../../../src/wake/dispatch/redact.ts'
import { Transcript } from '../../../../src/wake/dispatch/transcript.ts'
import { tempFolder } from '../../../support/temp.ts'

const provider = (name: string): Provider => {
  const found = providerNamed(name)
  if (!found) throw new Error(name)
  return found
}

/** Lines as the clients print them (Claude Code 2.1.332, Codex 0.171.0, opencode 1.18.33, Gemini 0.61.0, Qwen Code 0.24.4). */
describe.each<[string, object[], object, string[]]>([
  [
    'claude',
    [
      { type: 'system', subtype: 'init', session_id: 'S' },
      {
        type: 'assistant',
        session_id: 'S',
        message: {
          content: [
            { type: 'tool_use', id: 't1' },
            { type: 'text', text: 'x' },
          ],
        },
      },
      { type: 'assistant', session_id: 'S', message: { content: [{ type: 'tool_use', id: 't2' }] } },
      { type: 'user', session_id: 'S', message: { content: [{ type: 'tool_result', tool_use_id: 't1' }] } },
    ],
    { session: 'S', turns: null, error: null },
    ['t2'],
  ],
  [
    'claude',
    [
      {
        type: 'result',
        subtype: 'error_max_turns',
        is_error: true,
        num_turns: 4,
        total_cost_usd: 0.5,
        session_id: 'S',
        usage: { output_tokens: 9 },
      },
    ],
    { session: 'S', turns: 4, cost: 0.5, tokens: 9, maxTurns: true },
    [],
  ],
  [
    'claude',
    [
      {
        type: 'result',
        subtype: 'success',
        is_error: true,
        result: 'API Error: 429 …',
        api_error_status: 429,
        session_id: 'S',
      },
    ],
    { error: 'API Error: 429 …', status: 429 },
    [],
  ],
  [
    'codex',
    [
      { type: 'thread.started', thread_id: 'T' },
      { type: 'item.started', item: { id: 'i0', type: 'mcp_tool_call' } },
      { type: 'item.started', item: { id: 'i1', type: 'command_execution' } },
      { type: 'item.completed', item: { id: 'i0', type: 'mcp_tool_call' } },
      { type: 'error', message: 'reconnecting' },
      { type: 'turn.completed', usage: { output_tokens: 7 } },
    ],
    { session: 'T', turns: 1, tokens: 7, error: null },
    ['i1'],
  ],
  ['codex', [{ type: 'turn.failed', error: { message: '401 Unauthorized' } }], { error: '401 Unauthorized' }, []],
  [
    'opencode',
    [
      { type: 'step_start', sessionID: 'ses_1' },
      { type: 'step_finish', sessionID: 'ses_1', part: { cost: 0.25, tokens: { output: 3 } } },
      { type: 'step_finish', sessionID: 'ses_1', part: { cost: 0.25, tokens: { output: 4 } } },
      { type: 'error', sessionID: 'ses_1', error: { name: 'APIError', data: { message: 'no', statusCode: 429 } } },
    ],
    { session: 'ses_1', turns: 2, cost: 0.5, tokens: 7, error: 'no', status: 429 },
    [],
  ],
  [
    'gemini',
    [
      { type: 'init', session_id: 'G', model: 'm' },
      { type: 'tool_use', tool_id: 'a' },
      { type: 'result', status: 'success', stats: { output_tokens: 5 } },
    ],
    { session: 'G', tokens: 5, error: null },
    [],
  ],
  [
    'qwen',
    [{ type: 'result', is_error: false, num_turns: 1, session_id: 'Q' }],
    { session: 'Q', turns: 1, error: null },
    [],
  ],
])('%s', (name, lines, progress, tools) => {
  test('is read', () => {
    const seen = nothingYet()
    for (const line of lines) provider(name).read({ ...line }, seen)
    expect(seen).toMatchObject(progress)
    expect([...seen.tools]).toEqual(tools)
  })
})

test('output is read as it grows, cut anywhere; what is no event of the client is let pass', () => {
  using folder = tempFolder()
  const files = { out: join(folder.path, 'out'), err: join(folder.path, 'err') }
  const transcript = new Transcript(provider('command'), files)
  expect(transcript.read()).toBe(false)
  const line = Buffer.from('{"session_id":"ünï","turns":1}\nplain {text}\n[1]\n{broken\n{"turns":2}\n{"turns":3}')
  for (const byte of line) {
    appendFileSync(files.out, Buffer.from([byte]))
    expect(transcript.read()).toBe(true)
  }
  expect(transcript.progress).toMatchObject({ session: 'ünï', turns: 2, events: 2 })
  writeFileSync(files.err, 'x')
  expect(transcript.read()).toBe(true)
  expect(transcript.size).toBe(line.length + 1)
})

const exit = (code: number) => ({ code, signal: null, error: null, at: 0 })
const ending = (more: Partial<Ending>): Ending => ({
  ended: null,
  exit: exit(1),
  settled: 'open',
  progress: nothingYet(),
  errors: '',
  leftover: 0,
  ...more,
})
const said = (error: string | null, status: number | null = null) => ({ ...nothingYet(), events: 1, error, status })

test.each<[string, Partial<Ending>, Cause]>([
  ['a claude that is not logged in', { progress: said('Not logged in · Please run /login') }, 'misconfigured'],
  ['a wrong key', { progress: said('Failed to authenticate. API Error: 401 invalid api key') }, 'misconfigured'],
  [
    'an unknown model',
    { progress: said("There's an issue with the selected model (x). It may not exist") },
    'misconfigured',
  ],
  ['an unknown option', { errors: "error: unknown option '--frobnicate'" }, 'misconfigured'],
  [
    'a session that is gone, on standard error alone',
    { errors: 'No conversation found with session ID: 1' },
    'session_lost',
  ],
  [
    'a codex thread that is gone',
    { errors: 'Error: thread/resume failed: no rollout found for thread id 1' },
    'session_lost',
  ],
  ['overload', { progress: said('Overloaded', 529) }, 'rate_limited'],
  ['overload, in the words of codex', { progress: said('We’re currently experiencing high demand') }, 'rate_limited'],
  ['an address that does not exist', { progress: said('unexpected status 404 Not Found: model: x') }, 'misconfigured'],
  ['a model that does not exist, by its status', { progress: said('It may not exist', 404) }, 'misconfigured'],
  ['an error in spite of exit 0', { exit: exit(0), progress: said('stream disconnected') }, 'crashed'],
  ['429 in the text of a log is no rate limit', { progress: said(null), errors: 'pid 429 rate limit' }, 'crashed'],
  ['no word of its attendant', { exit: null }, 'crashed'],
  ['a program that cannot be started', { exit: { ...exit(0), code: null, error: 'ENOENT' } }, 'misconfigured'],
  ['an answer counts, however it ended', { settled: 'replied', ended: { cause: 'hung', detail: 'x' } }, 'replied'],
  ['a start without a letter', { settled: 'none', exit: exit(0) }, 'ran'],
])('%s', (_, more, cause) => expect(classify(ending(more)).cause).toBe(cause))

const pauses = { retry: 5, limited: 30 }
test('what follows: resume, resume, fresh, and an end', () => {
  const next = (...causes: Cause[]) => nextAfter(causes, { attempts: 3 }, pauses)
  expect(next('crashed')).toEqual({ retryMs: 5 })
  expect(next('crashed', 'rate_limited')).toEqual({ retryMs: 30 })
  expect(next('not_started')).toEqual({ retryMs: 0 })
  expect(next('not_started', 'not_started', 'crashed', 'silent')).toEqual({ retryMs: 5 })
  expect(next('crashed', 'crashed', 'crashed')).toEqual({ outcome: 'failed' })
  expect(next('crashed', 'crashed', 'silent')).toEqual({ outcome: 'silent' })
  expect(next('misconfigured')).toEqual({ outcome: 'failed' })
  expect(next('timed_out')).toEqual({ outcome: 'timed_out' })
  expect(next(...Array<Cause>(7).fill('not_started'))).toEqual({ outcome: 'failed' })

  const attempt = (more: Partial<AttemptRow>) =>
    ({ mode: 'fresh', session: 'S', healthy: 1, cause: 'crashed', ...more }) as AttemptRow
  expect(planOf([], 'P', false)).toEqual({ mode: 'resume', session: 'P' })
  expect(planOf([], 'P', true)).toEqual({ mode: 'fresh', session: null })
  expect(planOf([attempt({})], 'P', false)).toEqual({ mode: 'resume', session: 'S' })
  expect(planOf([attempt({ healthy: null })], null, false)).toEqual({ mode: 'fresh', session: null })
  expect(planOf([attempt({}), attempt({})], 'P', false)).toEqual({ mode: 'fresh', session: null })
  expect(planOf([attempt({ cause: 'not_started' })], 'P', false)).toEqual({ mode: 'resume', session: 'P' })
})

test('only what is on a list is passed on, and what was set for the run', () => {
  const own = {
    PATH: '/bin',
    HOME: '/h',
    LC_ALL: 'C',
    ANTHROPIC_API_KEY: 'k',
    CLAUDE_CODE_SESSION_ID: 's',
    CLAUDECODE: '1',
    M4A_TOKEN: 't',
    EXTRA: 'e',
    OTHER: 'o',
  }
  const lists = { provider: provider('claude').env, profile: ['EXTRA', 'M4A_TOKEN'] }
  expect(environmentOf(own, lists, ['/a'], { M4A_RUN: 'r' })).toEqual({
    PATH: '/a:/bin',
    HOME: '/h',
    LC_ALL: 'C',
    ANTHROPIC_API_KEY: 'k',
    EXTRA: 'e',
    TERM: 'dumb',
    M4A_RUN: 'r',
  })
  expect(secretsIn({ A_KEY: 'long-enough', TOKEN_FILE: 'long-enough', HOME: '/long-enough' })).toEqual(['long-enough'])
})

test('secrets are blotted out, the rest stays', () => {
  const key = 'f'.repeat(64)
  const text = `a sk-ant-api03-abcdefghijklmnop b Authorization: Bearer abc.def-ghi_jkl c ghp_0123456789abcdefghij ${key} my-own-one d`
  expect(redact('run-skill-generator risk-assessment-tool', [])).toBe('run-skill-generator risk-assessment-tool')
  expect(redact(text, ['my-own-one'])).toBe('a [secret] b Authorization: [secret] c [secret] [secret] [secret] d')
})

test('the evidence is the end of standard error and what the agent said last, no events of its client', () => {
  using folder = tempFolder()
  const { out, err } = filesOf(folder.path)
  const nothing = nothingYet()
  writeFileSync(out, '{"type":"init"}\nplain words\n{"type":"result"}\n')
  expect(evidenceIn(folder.path, nothing)).toBe('plain words')
  writeFileSync(err, Array.from({ length: 30 }, (_, at) => `line ${at}`).join('\n'))
  const lines = evidenceIn(folder.path, { said: `${'x'.repeat(500)} the end` }).split('\n')
  expect(lines).toHaveLength(20)
  expect(lines.at(-1)).toMatch(/^…x+ the end$/)
  expect(lines.at(-2)).toBe('line 29')
})

test('only one ever claims an attempt', () => {
  using folder = tempFolder()
  const who = (pid: number) => ({ pid, start: '1', boot: 'b' })
  expect([1, 2, 3].map((pid) => claim(folder.path, who(pid)))).toEqual([true, false, false])
  expect(readClaim(folder.path)).toEqual(who(1))
})
