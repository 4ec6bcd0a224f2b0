// A mailbox with a real Chromium in front of it, and people and agents who have written to each other.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Actor } from './actor.ts'
import { Mailbox } from './mailbox.ts'

export type Theme = 'light' | 'dark'
export const WIDE = { width: 1440, height: 900 }
export const NARROW = { width: 360, height: 740 }

/** As root Chromium has no sandbox; `more`: further switches. */
export const browse = (...more: string[]): Promise<Browser> =>
  chromium.launch({
    executablePath: Bun.which('chromium') ?? '/usr/bin/chromium',
    args: [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--no-proxy-server', ...more],
  })

/** A link of the operator, or of whose token it is; `login_secs`: how long the login lasts. */
export async function linkOf(mailbox: Mailbox, token = mailbox.operatorKey, login_secs?: number): Promise<string> {
  const { status, body } = await mailbox.post('/ui/link', token, login_secs === undefined ? {} : { login_secs })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return String(body.url)
}

/** A page that is logged in, at the view `at` (`#/…`), in a browser context of its own: as a new window of a fresh browser. */
export async function enter(
  browser: Browser,
  link: string,
  options: { at?: string; theme?: Theme; size?: typeof WIDE } = {},
): Promise<Page> {
  const { at = '', theme = 'light', size = WIDE } = options
  const context = await browser.newContext({ viewport: size, colorScheme: theme, locale: 'en-GB', timezoneId: 'UTC' })
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  await page.goto(link)
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.locator('.connection.live').waitFor()
  if (at !== '') await show(page, at)
  return page
}

/** Goes to another view, and waits until it has read what it shows. */
export async function show(page: Page, at: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash
  }, at)
  await page.waitForFunction(() => document.querySelector('h1') && !document.querySelector('.reading'))
}

/** A day at a desk: three agents and a person, rooms, threads with replies, closed and open letters. */
export class Desk {
  private constructor(
    readonly mailbox: Mailbox,
    readonly folder: string,
    readonly claude: Actor,
    readonly codex: Actor,
    readonly gemini: Actor,
  ) {}

  static async open(): Promise<Desk> {
    const folder = mkdtempSync(join(tmpdir(), 'desk-'))
    const agent = (name: string) => join(folder, 'bin', name)
    const mailbox = await Mailbox.start({ M4A_RECOGNISED_AGENTS: ['claude', 'codex', 'gemini'].map(agent).join(',') })
    const token = (id: string, label: string, more: object = {}) => mailbox.account(id, { label, ...more })
    const start = async (name: string, label: string, work: string) => {
      const cwd = join(folder, work)
      for (const path of [cwd, join(folder, 'bin')]) mkdirSync(path, { recursive: true })
      copyFileSync(process.execPath, agent(name))
      return mailbox.actor(await token(name, label), { program: agent(name), cwd })
    }
    const desk = new Desk(
      mailbox,
      folder,
      await start('claude', 'Claude Code', 'queue'),
      await start('codex', 'Codex', 'reviews'),
      await start('gemini', 'Gemini CLI', 'export'),
    )
    await token('ada', 'Ada', { kind: 'person' })
    await mailbox.admin('room', { id: 'build', label: 'What the build says' })
    await mailbox.admin('room', { id: 'release' })
    for (const participant of ['claude', 'codex', 'gemini', 'operator'])
      await mailbox.admin('room/member/add', { room: 'build', participant })
    for (const participant of ['claude', 'operator'])
      await mailbox.admin('room/member/add', { room: 'release', participant })
    await desk.#write()
    return desk
  }

  async #write(): Promise<void> {
    const { claude, codex, gemini } = this
    const send = (by: Actor, request: object) => by.ask('http', 'send', request)
    await claude.ask('http', 'status', { working_on: 'the write queue', role: 'backend' })
    await codex.ask('http', 'status', { working_on: 'reviews', role: 'reviewer' })
    await gemini.ask('http', 'whoami')
    const review = await send(claude, {
      to: 'codex',
      subject: 'Review please: bounded write queue',
      body: 'src/store/queue.ts refuses with `busy` once 4,096 jobs wait.\n\nTwo questions:\n- is retry_after_ms of 50 too short for a slow disk?\n- should a full queue be visible in /metrics?',
    })
    const answer = await send(codex, {
      reply_to: review.message_id,
      close: true,
      body: 'Read it. 50 ms is fine, a commit takes 8 ms here.\n\nYes to the metric: m4a_write_queue, a gauge.',
    })
    await send(claude, { reply_to: answer.message_id, close: true, body: 'Done, with a test. Thanks.' })
    await send(codex, {
      to: '#build',
      subject: 'main is red',
      body: 'queue.test.ts fails on arm64: the clock of the runner goes back. Looking into it.',
    })
    await send(gemini, {
      to: 'operator',
      subject: 'May I rename the table?',
      body: 'The migration would take about 40 s on your store (2.1 GB). Nothing is lost if it is stopped half way.',
    })
    await send(claude, {
      to: 'operator',
      subject: 'Release notes for 0.2',
      body: 'A draft is in docs/0.2.md. Two points need you:\n\n1. the name of the new option\n2. whether the old one goes on for a release',
    })
    await send(gemini, { to: ['claude', 'codex'], subject: 'Schema of the export', body: 'JSONL, one letter a line.' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.mailbox[Symbol.asyncDispose]()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
