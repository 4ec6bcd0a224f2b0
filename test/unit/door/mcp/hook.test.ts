// m4a_mail_hook: callable and not listed; gives what a hook prints, and never an error.
import { expect, test } from 'bun:test'
import { Refusal } from '../../../../src/wire/refusal.ts'
import { dig, type Json, list, text } from '../../../support/json.ts'
import { legacy, modern, post, Recorder } from './client.ts'

const answer = {
  account: 'claude',
  fresh: 1,
  more: false,
  unread: 1,
  senders: [{ from_text: 'codex/s-7f3a', count: 1, person: false }],
  now: '2026-11-30T12:00:00.000Z',
}
const hook = (args: Json, visitor = new Recorder(() => answer), meta: { [key: string]: Json } = {}) =>
  post(legacy('tools/call', { name: 'm4a_mail_hook', arguments: args, _meta: meta }), visitor)

test('it is not listed', async () => {
  expect((await post(legacy('tools/list'))).text).not.toContain('m4a_mail_hook')
})

test('in both eras its text is what the client takes from a hook; other input is not looked at', async () => {
  const args = { client: 'claude', event: 'UserPromptSubmit', session: 'x', cwd: '/' }
  const { message, headers } = modern('tools/call', { name: 'm4a_mail_hook', arguments: args })
  for (const { json } of [await hook(args), await post(message, new Recorder(() => answer), headers)]) {
    const printed: Json = JSON.parse(text(json, 'result', 'content', 0, 'text'))
    expect(text(printed, 'hookSpecificOutput', 'hookEventName')).toBe('UserPromptSubmit')
    expect(text(printed, 'hookSpecificOutput', 'additionalContext')).toContain('1 new letter (1 from codex/s-7f3a)')
    expect(dig(json, 'result', 'structuredContent')).toBeUndefined()
  }
})

test('asks as the conversation that calls, and whether it would start a turn', async () => {
  const visitor = new Recorder(() => answer)
  await hook({ client: 'codex', event: 'Stop' }, visitor, { threadId: 't-1' })
  expect(visitor.performed).toMatchObject([
    { operation: 'notice', request: { starts_turn: true }, said: { conversation: { key: 't-1' } } },
  ])
})

test('where a session begins or was cleared, what is known of it is read again', async () => {
  const visitor = new Recorder(() => answer)
  for (const event of ['SessionStart', 'UserPromptSubmit', 'Stop']) await hook({ client: 'claude', event }, visitor)
  expect(visitor.performed.map(({ said }) => said.anew)).toEqual([true, undefined, undefined])
})

test.each([
  ['no news', { client: 'claude', event: 'Stop' }, new Recorder(() => ({ ...answer, fresh: 0, senders: [] }))],
  ['a refusal', { client: 'claude', event: 'Stop' }, new Recorder(() => Promise.reject(new Refusal('busy', 'full')))],
  ['a fault', { client: 'claude', event: 'Stop' }, new Recorder(() => Promise.reject(new Error('broken')))],
  ['an unknown client', { client: 'nobody', event: 'Stop' }, new Recorder(() => answer)],
  ['no event', { client: 'claude' }, new Recorder(() => answer)],
  ['nothing', null, new Recorder(() => answer)],
])('%s prints nothing and fails nothing', async (_, args, visitor) => {
  const { status, json } = await hook(args, visitor)
  expect(status).toBe(200)
  expect(list(json, 'result', 'content')).toEqual([])
  expect(dig(json, 'result', 'isError')).toBeUndefined()
})
