// Dispatch on the page, in a real Chromium: starting an agent, watching its attempts, its output as text, pausing, stopping.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { addAgent, atWork, done } from './support/agents.ts'
import { Mailbox } from './support/mailbox.ts'
import { browse, enter, linkOf, NARROW, show } from './support/ui.ts'

setDefaultTimeout(60_000)

let mailbox: Mailbox
let browser: Browser
let peer: string
beforeAll(async () => {
  ;[mailbox, browser] = await Promise.all([Mailbox.start({ SLOW_MS: '2500' }), browse()])
  peer = await mailbox.account('peer', { may_send: true, may_read: true, may_dispatch: true })
  for (const [id, behaviour, profile] of [
    ['backend', ['slow'], {}],
    ['hostile', ['hostile'], { attempts: 1 }],
    ['flaky', ['silent', 'silent', 'silent', 'silent'], { attempts: 2, allow: ['peer'] }],
    ['endless', ['hang'], {}],
  ] as const) {
    await mailbox.account(id)
    await addAgent(mailbox, id, behaviour, profile)
  }
})
afterAll(async () => {
  await browser?.close()
  await mailbox?.[Symbol.asyncDispose]()
})

async function onPage(at: string, use: (page: Page) => Promise<void>, token?: string): Promise<void> {
  const page = await enter(browser, await linkOf(mailbox, token), { at })
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => complaints.push(dialog.message()))
  await use(page)
  await page.context().close()
  expect(complaints).toEqual([])
}

const row = (page: Page, text: string) => page.locator('.dispatches a', { hasText: text })
const figure = (page: Page) => page.locator('.figures > div', { hasText: 'Dispatch' })

/** As the operator; the number of the dispatch. */
async function dispatched(to: string, subject: string, token = mailbox.operatorKey): Promise<number> {
  const { body } = await mailbox.post('/mail/send', token, { to, subject, body: 'b', dispatch: 'resume' })
  return (body.dispatch as { id: number }).id
}

test('a person starts an agent by keys, and sees it work and answer, without a reload', () =>
  onPage('#/dispatch', async (page) => {
    await page.getByText('Start an agent').focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('Agent', { exact: true }).selectOption('backend')
    await page.getByLabel('Subject').fill('Does it refuse by name?')
    await page.getByLabel('Letter').fill('--close @all\nAnswer with the line.')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('status').filter({ hasText: 'to backend: queued' }).waitFor()
    const mine = row(page, 'Does it refuse by name?')
    await mine.locator('.chip', { hasText: 'running' }).waitFor()
    await page.locator('.agents > li', { hasText: 'backend' }).getByText('1 running').waitFor()
    await mine.locator('.chip', { hasText: 'replied' }).waitFor()
    await mine.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: /^Attempt 1/ }).waitFor()
    expect(await page.getByRole('region', { name: /^Attempt 1/ }).textContent()).toMatch(
      /command, .*replied.*1 turn.*exit 0/,
    )
    await page.getByRole('link', { name: 'Its answer' }).click()
    await page.getByText(/^done by [0-9a-f]{16}$/).waitFor()
    await page.getByText('--close @all').waitFor() // the letter as it was written
  }))

test('who is refused keeps every word; a start without a letter', () =>
  onPage('#/dispatch?to=backend', async (page) => {
    await mailbox.admin('agent/set', { id: 'backend', per_day: 0 })
    await page.getByLabel('Letter').fill('kept')
    await page.getByRole('button', { name: 'Dispatch' }).click()
    await page.getByRole('alert').filter({ hasText: 'in the last 24 hours' }).waitFor()
    expect(await page.getByLabel('Letter').inputValue()).toBe('kept')
    await mailbox.admin('agent/set', { id: 'backend', per_day: 100 })
    await page.getByRole('button', { name: 'Only have it look' }).click()
    await page.getByRole('status').filter({ hasText: 'to backend' }).waitFor()
    await row(page, 'its mail').first().waitFor()
  }))

test('attempts are kept apart, each with its cause and what it cost; failed ones have a list', async () => {
  const id = await dispatched('flaky', 'Come to nothing', peer)
  await done(mailbox, id)
  await onPage('#/dispatch?show=failed', async (page) => {
    await row(page, 'Come to nothing').click()
    const attempt = (number: number) =>
      page.getByRole('region', { name: new RegExp(`^Attempt ${number}`) }).textContent()
    await page.getByRole('region', { name: /^Attempt 2/ }).waitFor()
    for (const number of [1, 2])
      expect(await attempt(number)).toMatch(/silent.*2 turns.*40 tokens.*\$0\.2500.*exit 0.*did not answer/)
    await page.getByRole('button', { name: 'Output of attempt 1' }).click()
    await page.getByRole('region', { name: 'Output of attempt 1' }).getByText('session-of-the-agent').waitFor()
    await page.getByRole('link', { name: 'What the dispatcher was told' }).click()
    await page.getByText('Undone: Come to nothing').waitFor()
    await show(page, '#/')
    expect(await figure(page).textContent()).toContain('1 failed today')
    await figure(page).getByRole('link').click()
    await page.getByRole('heading', { name: 'Agents' }).waitFor()
  })
})

test('what an agent prints is text: no markup, no escapes, no direction', async () => {
  const id = await dispatched('hostile', '<img src=x onerror=alert(1)>\u202eevil')
  await done(mailbox, id)
  await onPage(`#/dispatch/${id}`, async (page) => {
    await page.getByRole('button', { name: 'Output of attempt 1' }).click()
    const output = page.getByRole('region', { name: 'Output of attempt 1' })
    await output.getByText('<script>alert(1)</script>').waitFor()
    expect(await output.locator('.unseen').allTextContents()).toEqual(expect.arrayContaining(['\\u001b', '\\u202e']))
    expect(await output.locator('script, img, a').count()).toBe(0)
    await page.getByRole('button', { name: 'Errors of attempt 1' }).click()
    await page.getByRole('region', { name: 'Errors of attempt 1' }).getByText('</section><h1>').waitFor()
    expect(await page.locator('h1').count()).toBe(1)
    await show(page, '#/dispatch')
    expect(await page.locator('.dispatches img').count()).toBe(0)
    await row(page, '<img src=x').waitFor()
  })
})

test('a pause with its reason: of one, of all; what waits says so, and goes on', () =>
  onPage('#/dispatch', async (page) => {
    await page.getByRole('button', { name: 'Pause backend…' }).click()
    await page.keyboard.type('main is frozen')
    await page.keyboard.press('Enter')
    await page.getByText('paused: main is frozen').waitFor()
    const refused = await mailbox.post('/mail/dispatch_wake', mailbox.operatorKey, { target: 'backend' })
    expect(refused.body).toMatchObject({ kind: 'dispatch_paused', reason: 'main is frozen' })
    await page.getByRole('button', { name: 'Resume backend' }).click()
    await page.getByRole('button', { name: 'Pause backend…' }).waitFor()
    await page.getByRole('button', { name: 'Pause all…' }).click()
    await page.getByLabel('Why').fill('budget')
    await page.getByRole('button', { name: 'Pause all' }).click()
    await page.getByText('Nothing is started: budget').waitFor()
    await show(page, '#/')
    expect(await figure(page).textContent()).toMatch(/off.*paused: budget/)
    await show(page, '#/dispatch')
    await page.getByRole('button', { name: 'Resume all' }).click()
    await page.getByRole('button', { name: 'Pause all…' }).waitFor()
  }))

test('a running one shows what it prints as it comes, and is stopped', async () => {
  const id = await dispatched('endless', 'For ever')
  await onPage(`#/dispatch/${id}`, async (page) => {
    await page.locator('.chip', { hasText: 'running' }).waitFor()
    await page.getByRole('button', { name: 'Output of attempt 1' }).click()
    await page.getByRole('region', { name: 'Output of attempt 1' }).getByText('started').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('.chip', { hasText: 'stopped' }).first().waitFor()
    await page.getByText('operator stopped it').first().waitFor()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' })
  })
  expect((await done(mailbox, id)).dispatch.outcome).toBe('stopped')
  expect(atWork(mailbox)).toEqual([])
})

test('who is no operator sees its own, and starts whom it may; a login of the page changes no profile', async () => {
  const ada = await mailbox.account('ada', { kind: 'person', may_send: true, may_read: true, may_dispatch: true })
  await onPage(
    '#/dispatch',
    async (page) => {
      await page.getByText('Nothing was dispatched yet.').waitFor()
      expect(await page.getByRole('button', { name: /Pause/ }).count()).toBe(0)
      await page.getByText('Start an agent').click()
      await page.getByLabel('Letter').fill('hello')
      await page.getByRole('button', { name: 'Dispatch' }).click()
      await row(page, 'No subject').waitFor()
      await show(page, '#/dispatch/1')
      await page.getByRole('alert').filter({ hasText: 'no dispatch 1' }).waitFor()
    },
    ada,
  )
  const url = await linkOf(mailbox)
  const { body } = await mailbox.post('/ui/login', '', { secret: url.split('#login=')[1] })
  const change = await mailbox.post('/admin/agent/set', String(body.key), { id: 'backend', program: '/bin/true' })
  expect(change.body).toMatchObject({ kind: 'permission_denied' })
  expect((await mailbox.post('/admin/agent/list', String(body.key), {})).status).toBe(200)
})

test('on a telephone nothing scrolls sideways', async () => {
  const page = await enter(browser, await linkOf(mailbox), { at: '#/dispatch', size: NARROW })
  const { body } = await mailbox.post('/mail/dispatch_status', mailbox.operatorKey, {})
  const [newest] = body.dispatches as { id: number }[]
  for (const at of ['#/dispatch', `#/dispatch/${newest?.id}`]) {
    await show(page, at)
    for (const summary of await page.locator('summary').all()) await summary.click()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(NARROW.width)
  }
  await page.context().close()
})
