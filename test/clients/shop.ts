// A mailbox that starts one real client as its agent `ada`, in a HOME of its own, with a model that says what the test says.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dig, type Json, list, text } from '../support/json.ts'
import type { ScriptedModel } from '../support/scripted-model.ts'
import { household, killHousehold, type Prepared, prepareAgent } from './agent.ts'
import type { AnyClient } from './install.ts'
import { type Mailbox, startMailbox } from './mailbox.ts'
import { commandOf } from './proc.ts'

/** Milliseconds that a dispatch may take in all. */
const PATIENCE = 120_000

export type Shop = { mailbox: Mailbox; agent: Prepared; home: string; close(): Promise<void> }

export async function openShop(client: AnyClient, model: ScriptedModel, profile: { [key: string]: Json }) {
  const home = mkdtempSync(join(tmpdir(), `m4a-dispatch-${client}-`))
  const agent = await prepareAgent(client, model, { kind: 'stdio', command: ['/bin/false'], env: {} }, { home })
  mkdirSync(agent.cwd, { recursive: true })
  // its user has a mailbox set up already, under our name and for another account: a run has its own in that place
  for (const file of ['.claude.json', '.codex/config.toml', '.config/opencode/opencode.json', '.qwen/settings.json']) {
    const path = join(home, file)
    if (existsSync(path))
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/(["_.])mailbox\b/g, '$1mail4agent'))
  }
  const mailbox = await startMailbox({ ...agent.env, HOME: home })
  await mailbox.account('ada')
  const program = agent.command[0] ?? ''
  const answer = await mailbox.operator('/admin/agent', {
    id: 'ada',
    provider: client,
    program,
    cwd: agent.cwd,
    // without one it chooses between several by asking a model
    ...(client === 'gemini' ? { model: 'gemini-2.5-flash' } : {}),
    permission: 'full',
    per_day: 100,
    env: ['SCRIPTED_KEY'],
    ...profile,
  })
  if (text(answer, 'provider') !== client) throw new Error(JSON.stringify(answer))
  const shop: Shop = {
    mailbox,
    agent,
    home,
    async close() {
      await mailbox.stop()
      killHousehold(home)
      rmSync(home, { recursive: true, force: true })
    },
  }
  return shop
}

export async function dispatch(
  { mailbox }: Shop,
  body: string,
  how = 'resume',
): Promise<{ id: number; letter: string }> {
  const sent = await mailbox.operator('/mail/send', { to: 'ada', subject: 'work', body, dispatch: how })
  return { id: Number(dig(sent, 'dispatch', 'id')), letter: text(sent, 'message_id') }
}

export async function until({ mailbox }: Shop, id: number, test: (shown: Json) => boolean): Promise<Json> {
  for (const end = performance.now() + PATIENCE; ; await Bun.sleep(200)) {
    const shown = await mailbox.operator('/mail/dispatch_show', { id })
    if (test(shown)) return shown
    if (performance.now() > end) throw new Error(JSON.stringify(shown))
  }
}

export const isDone = (shown: Json): boolean => text(shown, 'dispatch', 'state') === 'done'
export const causes = (shown: Json): string[] => list(shown, 'attempts').map((attempt) => text(attempt, 'cause'))

/** The letter that told of the end of a dispatch. */
export const told = ({ mailbox }: Shop, shown: Json): Promise<Json> =>
  mailbox.operator('/mail/get', { message_id: text(shown, 'dispatch', 'bounce') })

/** Everything of the client's user that runs, but for the mailbox itself. */
export const left = ({ home }: Shop): number[] => household(home).filter((pid) => !commandOf(pid).includes(' serve '))
