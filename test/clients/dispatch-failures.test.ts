// Claude Code and Codex, headless, as the mailbox started them: each way in which such a run comes to nothing gets its class, is
// tried again only where that helps, is told on the thread with evidence, and leaves no process behind.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dig, list, text } from '../support/json.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { causes, dispatch, isDone, left, openShop, type Shop, told, until } from './shop.ts'

const CLIENTS = ['claude', 'codex'] as const
type Client = (typeof CLIENTS)[number]
const START = 300_000
setDefaultTimeout(180_000)

let model: ScriptedModel
const shops = new Map<Client, Shop>()
beforeAll(async () => {
  model = startScriptedModel()
  for (const client of CLIENTS) shops.set(client, await openShop(client, model, {}))
  // its own retries, with their pauses, are no part of this: what it gives up with is
  const config = join(shopOf('codex').home, '.codex', 'config.toml')
  const fast = 'env_key = "SCRIPTED_KEY"\nrequest_max_retries = 0\nstream_max_retries = 0'
  writeFileSync(config, readFileSync(config, 'utf8').replace('env_key = "SCRIPTED_KEY"', fast))
}, START)
afterAll(async () => {
  for (const shop of shops.values()) await shop.close()
  await model?.close()
})

function shopOf(client: Client): Shop {
  const shop = shops.get(client)
  if (!shop) throw new Error(`no ${client}`)
  return shop
}

/** What profiles say if a test says nothing else: every test sets all of it. */
const PROFILE = { attempts: 3, startup_secs: 60, stall_secs: 300, attempt_secs: 7_200 }
const set = ({ mailbox }: Shop, change: object) =>
  mailbox.operator('/admin/agent/set', { id: 'ada', ...PROFILE, ...change })

/** Claude Code would try again for minutes by itself, as any client of that API's own library. */
const AT_ONCE = { 'x-should-retry': 'false' }
const LIMIT = { status: 429, type: 'rate_limit_error', message: 'This request would exceed your rate limit' }

/** What the model's provider answers instead of the model, and what the run is then said to have ended with. */
const REFUSALS: [name: string, status: number, type: string, message: string, cause: string][] = [
  ['a rate limit', LIMIT.status, LIMIT.type, LIMIT.message, 'rate_limited'],
  ['overload', 529, 'overloaded_error', 'Overloaded', 'rate_limited'],
  ['a wrong key', 401, 'authentication_error', 'invalid x-api-key', 'misconfigured'],
  ['a key without the right', 403, 'permission_error', 'Your account does not have access', 'misconfigured'],
  ['no money left', 400, 'invalid_request_error', 'Your credit balance is too low to access the API', 'misconfigured'],
  ['a model that does not exist', 404, 'not_found_error', 'model: nonesuch', 'misconfigured'],
]

describe.each(CLIENTS)('%s', (client) => {
  test.each(REFUSALS)('%s', async (_, status, type, message, cause) => {
    const shop = shopOf(client)
    // what no further attempt mends is not tried again; a rate limit would be, after half a minute
    await set(shop, { attempts: cause === 'misconfigured' ? 3 : 1 })
    shop.agent.script.refused = { status, type, message, headers: AT_ONCE }
    const { id, letter } = await dispatch(shop, 'work', 'fresh')
    const shown = await until(shop, id, isDone)
    expect(causes(shown)).toEqual([cause])
    expect(text(shown, 'dispatch', 'outcome')).toBe('failed')
    const bounce = await told(shop, shown)
    expect(text(bounce, 'thread')).toBe(letter)
    const detail = text(shown, 'attempts', 0, 'detail')
    expect(detail).toMatch(/[a-z]{3}/)
    expect(text(bounce, 'body')).toContain(detail)
    // evidence is for people: no events of the client
    expect(text(shown, 'attempts', 0, 'tail')).not.toContain('session_id')
    expect(left(shop)).toEqual([])
  })

  test('leaves processes at work and no answer', async () => {
    const shop = shopOf(client)
    shop.agent.script.refused = null
    await set(shop, { attempts: 1 })
    const { id } = await dispatch(shop, 'work', 'fresh')
    await shop.agent.shell(
      '(setsid sleep 600 </dev/null >/dev/null 2>&1 &) ; (env -i setsid sleep 601 </dev/null >/dev/null 2>&1 &) ; sleep 1; echo left',
    )
    await shop.agent.say('done')
    const shown = await until(shop, id, isDone)
    expect(causes(shown)).toEqual(['left_children'])
    expect(Number(dig(shown, 'attempts', 0, 'leftover'))).toBeGreaterThanOrEqual(1)
    expect(text(shown, 'dispatch', 'outcome')).toBe('silent')
    expect(text(await told(shop, shown), 'body')).toContain('done')
    expect(left(shop)).toEqual([])
  })
})

/** Where a test mostly waits, both clients wait together. */
const both = (work: (shop: Shop) => Promise<void>) => Promise.all(CLIENTS.map((client) => work(shopOf(client))))

test('hangs at its start, and does not hear SIGTERM', async () => {
  await both(async (shop) => {
    // stopped before its first word: a signal but SIGKILL and SIGCONT waits, signal(7)
    const program = join(shop.home, 'stopped')
    writeFileSync(program, `#!/bin/sh\nkill -STOP $$\nexec '${shop.agent.command[0]}' "$@"\n`, { mode: 0o755 })
    await set(shop, { program, startup_secs: 5, attempts: 1 })
    const { id } = await dispatch(shop, 'work', 'fresh')
    const shown = await until(shop, id, isDone)
    await set(shop, { program: shop.agent.command[0] ?? '' })
    expect(list(shown, 'attempts')).toMatchObject([{ cause: 'hung_at_start', forced: true, healthy_at: null }])
    expect(text(await told(shop, shown), 'body')).toContain('SIGTERM did not end it')
    expect(left(shop)).toEqual([])
  })
})

test('takes too long in a tool that ignores SIGTERM', async () => {
  await both(async (shop) => {
    shop.agent.script.refused = null
    await set(shop, { attempt_secs: 20 })
    const { id } = await dispatch(shop, 'work', 'fresh')
    const marker = join(shop.agent.cwd, `stubborn-${id}`)
    // nobody's child: Claude Code ends the processes below it by SIGKILL itself
    const stubborn = `setsid sh -c "trap '' TERM; touch ${marker}; while :; do sleep 1; done"`
    const command = `(${stubborn} </dev/null >/dev/null 2>&1 &) ; sleep 300`
    void shop.agent.shell(command).catch(() => {})
    const shown = await until(shop, id, isDone)
    expect(existsSync(marker)).toBe(true)
    // what took its whole time is not begun again
    expect(list(shown, 'attempts')).toMatchObject([{ cause: 'timed_out', forced: true }])
    expect(text(shown, 'dispatch', 'outcome')).toBe('timed_out')
    expect(left(shop)).toEqual([])
  })
})

test('a rate limit is waited out, and the letter is answered then', async () => {
  await both(async (shop) => {
    const { agent } = shop
    await set(shop, {})
    agent.script.refused = { ...LIMIT, headers: AT_ONCE }
    const { id, letter } = await dispatch(shop, 'work', 'fresh')
    const waiting = await until(shop, id, (shown) => causes(shown)[0] === 'rate_limited')
    agent.script.refused = null
    await agent.tool('m4a_mail_send', { reply_to: letter, body: 'now', close: true })
    await agent.say('finished')
    const shown = await until(shop, id, isDone)
    expect(causes(shown)).toEqual(['rate_limited', 'replied'])
    const ended = Date.parse(text(waiting, 'attempts', 0, 'ended_at'))
    expect(Date.parse(text(shown, 'attempts', 1, 'planned_at')) - ended).toBeGreaterThanOrEqual(29_000)
    expect(text(shown, 'dispatch', 'bounce')).toBe('')
    expect(left(shop)).toEqual([])
  })
})
