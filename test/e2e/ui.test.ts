// The page in a real Chromium: mail that comes while one looks, reading, replying, searching, writing; by mouse and by keys alone.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { openStore } from '../../src/store/open.ts'
import { browse, Desk, enter, linkOf, show } from './support/ui.ts'

setDefaultTimeout(60_000)

let desk: Desk
let browser: Browser
beforeAll(async () => {
  ;[desk, browser] = await Promise.all([Desk.open(), browse()])
})
afterAll(async () => {
  await browser?.close()
  await desk?.[Symbol.asyncDispose]()
})

/** Runs `use` on a page that is logged in; what it complains of fails the test. */
async function onPage(at: string, use: (page: Page) => Promise<void>): Promise<void> {
  const page = await enter(browser, await linkOf(desk.mailbox), { at })
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (line) => line.type() === 'error' && !isRefusal(line.text()) && complaints.push(line.text()))
  await use(page)
  await page.context().close()
  expect(complaints).toEqual([])
}

/** Chromium says so of every answer that is no 2xx. */
const isRefusal = (line: string): boolean => line.startsWith('Failed to load resource')

const row = (page: Page, text: string) => page.locator('a.letter-row', { hasText: text })

test('the overview shows who lives and what lies unread, and goes on by itself', () =>
  onPage('', async (page) => {
    const codex = page.locator('.accounts > li', { hasText: 'Codex' })
    expect(await codex.textContent()).toMatch(/1 live1 unread, oldest \d+\u00a0s, 1 to sessions/)
    await desk.claude.ask('http', 'send', { to: 'codex', subject: 'one more', body: '.' })
    await page.locator('.accounts > li', { hasText: '2 unread' }).filter({ hasText: 'Codex' }).waitFor()
    const parts = { Wake: 'on', Dispatch: 'off', 'Other machines': 'off' }
    for (const [part, state] of Object.entries(parts))
      expect(await page.locator('.figures > div', { hasText: part }).textContent()).toContain(state)
  }))

test('a letter arrives without a reload, and a screen reader is told', () =>
  onPage('#/mail/operator', async (page) => {
    await page.evaluate(() => Object.assign(window, { same: true }))
    await desk.codex.ask('http', 'send', { to: 'operator', subject: 'just now', body: 'arrived while you looked' })
    await row(page, 'just now').waitFor()
    expect(await page.locator('[aria-live=polite]').textContent()).toBe('A letter was sent')
    expect(await page.evaluate(() => 'same' in window)).toBe(true)
    expect(await row(page, 'just now').locator('.chip').textContent()).toBe('new')
  }))

test('reading opens, replying answers the session and closes; the sender sees both', () =>
  onPage('#/mail/operator', async (page) => {
    const asked = await desk.gemini.ask('http', 'send', { to: 'operator', subject: 'May I?', body: 'Drop the index?' })
    await row(page, 'May I?').click()
    await page.locator('article .chip.opened').waitFor()
    await page.getByLabel(/^Reply to gemini\/s-[0-9a-f]{8} as operator$/).fill('Yes, after the backup.')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('.results').waitFor()
    expect(await page.locator('.results').textContent()).toContain('the letter it answers is closed')
    const { messages } = await desk.gemini.ask('http', 'inbox')
    const reply = messages.at(-1)
    expect(reply).toMatchObject({ body: 'Yes, after the backup.', reply_to: asked.message_id })
    expect(reply.from_text).toMatch(/^operator\/s-/)
    const { receipts } = await desk.gemini.ask('http', 'receipts', { message_id: asked.message_id })
    expect(receipts[0].deliveries[0]).toMatchObject({ state: 'closed', close_reason: 'replied' })
    await page.locator('article', { hasText: 'Yes, after the backup.' }).waitFor()
    await page.getByText('What became of it').first().click()
    await page.getByText('replied').waitFor()
  }))

test('the mail of other accounts can be read, and looking changes nothing', () =>
  onPage('#/mail/codex', async (page) => {
    await row(page, 'Schema of the export').click()
    await page.getByText('JSONL, one letter a line.').waitFor()
    const { messages } = await desk.codex.ask('http', 'inbox')
    expect(messages.find((one: { subject: string }) => one.subject === 'Schema of the export').state).toBe('new')
    await page.goBack()
    await page.getByRole('link', { name: 'sent', exact: true }).click()
    await row(page, 'main is red').waitFor()
  }))

test('closing and opening again', () =>
  onPage('#/mail/operator', async (page) => {
    await row(page, 'Release notes').click()
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await page.getByRole('button', { name: 'Reopen' }).click()
    await page.getByRole('button', { name: 'Close', exact: true }).waitFor()
  }))

test('what was carried in is marked, in the list and in the letter', async () => {
  const letter = {
    key: 'old-1',
    from: 'ada',
    subject: 'From the old mailbox',
    body: 'Carried over.',
    created_at_unix_ms: Date.now() - 86_400_000,
    deliveries: [{ to: 'operator', state: 'new' }],
  }
  const { results } = await desk.mailbox.admin('import', { source: 'aipass', letters: [letter] })
  expect(results).toMatchObject([{ outcome: 'added' }])
  await onPage('#/mail/operator', async (page) => {
    expect(await row(page, 'From the old mailbox').locator('.who').textContent()).toContain('ada (imported)')
    await row(page, 'From the old mailbox').click()
    await page.getByText('imported from aipass: the sender was not proved here').waitFor()
    await show(page, '#/all')
    expect(await row(page, 'From the old mailbox').locator('.who').textContent()).toContain('ada (imported)')
  })
})

test('a fault that the mailbox tells is from mail4agent; nobody is asked to answer it, and it can be closed', async () => {
  const { mailbox } = desk
  await mailbox.down()
  const store = await openStore(join(mailbox.data, 'mail.sqlite'))
  await store.people.raise({ name: 'doorbell codex', since: Date.now(), text: 'its listener does not answer' })
  await store.close()
  // the actors' recognised programs stay what they were
  await mailbox.up({
    M4A_RECOGNISED_AGENTS: ['claude', 'codex', 'gemini'].map((name) => join(desk.folder, 'bin', name)).join(','),
  })
  await onPage('#/mail/operator', async (page) => {
    const fault = row(page, 'fault: doorbell codex')
    await fault.waitFor()
    expect(await fault.locator('.who').textContent()).toStartWith('mail4agent to')
    await fault.click()
    await page.getByText('The mailbox wrote this itself. It reads no mail.').waitFor()
    expect(await page.getByLabel(/^Reply to/).count()).toBe(0)
    expect(await page.locator('article header a').count()).toBe(0)
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await page.getByRole('button', { name: 'Reopen' }).waitFor()
  })
})

test('search finds words, and the address of a search can be kept', () =>
  onPage('#/search', async (page) => {
    await page.getByLabel('Words in subjects and letters').fill('gauge')
    await page.keyboard.press('Enter')
    await row(page, 'm4a_write_queue, a gauge').waitFor()
    expect(await page.locator('a.letter-row').count()).toBe(1)
    expect(new URL(page.url()).hash).toBe('#/search?q=gauge')
    await show(page, '#/search?q=nowhere-at-all')
    await page.getByText('No letter has these words.').waitFor()
  }))

test('a new letter to several, each with its result; what is refused loses no word', () =>
  onPage('#/write', async (page) => {
    await page.getByLabel('To').fill('claude, nobody-of-that-name')
    await page.getByLabel('Subject').fill('Both of you')
    await page.getByLabel('Letter').fill('hello')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('no account nobody-of-that-name').waitFor()
    const { messages } = await desk.claude.ask('http', 'inbox')
    expect(messages.at(-1)).toMatchObject({ subject: 'Both of you', body: 'hello' })
    await page.getByLabel('To').fill('not an address/')
    await page.getByLabel('Letter').fill('kept')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('alert').waitFor()
    expect(await page.getByLabel('Letter').inputValue()).toBe('kept')
    await page.reload()
    expect(await page.getByLabel('Letter').inputValue()).toBe('kept')
  }))

test('a card keeps its three groups apart', () =>
  onPage('#/sessions/claude', async (page) => {
    await page.locator('.sessions a').first().click()
    const group = (name: string) => page.getByRole('region', { name }).textContent()
    await page.getByRole('region', { name: 'Attested' }).waitFor()
    expect(await group('Attested')).toContain(`Process${desk.claude.pid}`)
    expect(await group('Attested')).not.toContain('the write queue')
    expect(await group('Corroborated')).toMatch(/Folder.*\/queueproc/)
    expect(await group('Declared')).toContain('the write queue')
    expect(await group('Declared')).not.toContain('/queue')
  }))

test('by keys alone: from the login to a reply', () =>
  onPage('', async (page) => {
    await desk.claude.ask('http', 'send', { to: 'operator', subject: 'by keys', body: 'Shall I go on?' })
    const focus = () => page.evaluate(() => document.activeElement?.textContent ?? '')
    await page.keyboard.press('Shift+Tab') // from the heading, which has the focus, back into the frame
    await page.keyboard.press('2')
    await row(page, 'by keys').waitFor()
    await page.keyboard.press('j')
    expect(await focus()).toContain('by keys')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'by keys' }).waitFor()
    await page.keyboard.press('r')
    await page.keyboard.type('Go on.')
    await page.keyboard.press('Control+Enter')
    await page.locator('.results').waitFor()
    const { messages } = await desk.claude.ask('http', 'inbox')
    expect(messages.at(-1)).toMatchObject({ body: 'Go on.' })
    await page.locator('h1').focus()
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    // and without any of our keys: the first stop leads past the frame
    await show(page, '#/rooms')
    await page.evaluate(() => (document.activeElement as HTMLElement).blur())
    await page.locator('.skip').focus()
    expect(
      await page.locator('.skip').evaluate((button) => button.getBoundingClientRect().left),
    ).toBeGreaterThanOrEqual(0)
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
  }))

test('in a burst the list goes on, and its end is shown', () =>
  onPage('#/mail/operator', async (page) => {
    const burst = (async () => {
      for (let at = 1; at <= 400; at++)
        await desk.codex.ask('http', 'send', { to: 'operator', subject: `burst ${at}`, body: '.' })
    })()
    await page
      .locator('a.letter-row', { hasText: /burst \d+/ })
      .first()
      .waitFor()
    await burst
    await row(page, 'burst 400').waitFor({ timeout: 3_000 })
  }))
