// Every view in both themes and at both widths: nothing that axe calls serious, nothing to scroll sideways; and the pictures of the README.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AxeResults } from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { addAgent, done } from './support/agents.ts'
import { browse, Desk, enter, linkOf, NARROW, show, type Theme, WIDE } from './support/ui.ts'

setDefaultTimeout(120_000)

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const PICTURES = join(import.meta.dir, '..', 'golden', 'ui')
const PICTURE = { width: 900, height: 560 }

let desk: Desk
let browser: Browser
/** Ids of a letter to the operator, and of one in a thread of agents. */
let letter: string
let thread: string
/** A dispatch that came to nothing. */
let undone: number
/** This process is the operator's session: the pictures show where it works. */
const home = process.cwd()
beforeAll(async () => {
  process.chdir(tmpdir())
  ;[desk, browser] = await Promise.all([Desk.open(), browse()])
  const { body } = await desk.mailbox.post('/admin/traffic', desk.mailbox.operatorKey, {})
  const letters = body.letters as { message_id: string; subject: string }[]
  const idOf = (subject: string) => letters.find((one) => one.subject.includes(subject))?.message_id ?? ''
  letter = idOf('Release notes')
  thread = idOf('Re: Review please')
  const orphan = await desk.mailbox.actor(await desk.mailbox.account('qwen', { label: 'Qwen Code' }))
  const me = await orphan.ask('http', 'whoami')
  await desk.codex.ask('http', 'send', { to: me.address_text, subject: 'Are you still on it?', body: 'The export.' })
  await orphan.end()
  for (const [id, behaviour] of [
    ['backend', ['reply']],
    ['docs', ['crash', 'silent']],
  ] as const) {
    await desk.mailbox.account(id)
    await addAgent(desk.mailbox, id, behaviour, { attempts: 2, cwd: join(desk.mailbox.root, `work-${id}`) })
  }
  const ask = async (to: string, subject: string) => {
    const request = { to, subject, body: 'Answer with the line.', dispatch: 'resume' }
    const sent = await desk.mailbox.post('/mail/send', desk.mailbox.operatorKey, request)
    const { id } = sent.body.dispatch as { id: number }
    await done(desk.mailbox, id)
    return id
  }
  await ask('backend', 'Does a full queue refuse by name?')
  undone = await ask('docs', 'Describe the new option')
  await desk.mailbox.admin('dispatch/pause', { id: 'docs', reason: 'docs are frozen until Monday' })
})
afterAll(async () => {
  process.chdir(home)
  await browser?.close()
  await desk?.[Symbol.asyncDispose]()
})

/** name → how to come there on a page that is logged in. */
const VIEWS: Record<string, (page: Page) => Promise<void>> = {
  overview: (page) => show(page, '#/').then(() => page.locator('#orphans').waitFor()),
  mail: (page) => show(page, '#/mail/operator'),
  letter: (page) => show(page, `#/letter/${letter}`),
  thread: (page) => show(page, `#/letter/${thread}`),
  all: (page) => show(page, '#/all'),
  sessions: (page) => show(page, '#/sessions'),
  session: async (page) => {
    await show(page, '#/sessions/claude')
    await page.locator('.sessions a').first().click()
    await page.getByRole('region', { name: 'Attested' }).waitFor()
  },
  dispatches: (page) => show(page, '#/dispatch').then(() => page.getByText('docs are frozen').waitFor()),
  dispatch: async (page) => {
    await show(page, `#/dispatch/${undone}`)
    await page.getByRole('button', { name: 'Errors of attempt 1' }).click()
    await page.getByRole('region', { name: 'Errors of attempt 1' }).getByText('it broke').waitFor()
  },
  rooms: (page) => show(page, '#/rooms'),
  search: (page) => show(page, '#/search?q=queue'),
  write: async (page) => {
    await show(page, '#/write?to=claude')
    await page.getByLabel('Subject').fill('The name of the option')
    await page.getByLabel('Letter').fill('Call it retry_after_ms, as in the answer.')
  },
  keys: async (page) => {
    await show(page, '#/')
    await page.getByRole('button', { name: 'Keys' }).click()
  },
}

async function faults(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const found = await page.evaluate(async (): Promise<AxeResults> => Reflect.get(window, 'axe').run())
  expect(found.passes.map(({ id }) => id)).toContain('color-contrast')
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

const sideways = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

describe.each<[Theme, 'wide' | 'narrow']>([
  ['light', 'wide'],
  ['dark', 'wide'],
  ['light', 'narrow'],
  ['dark', 'narrow'],
])('%s, %s', (theme, width) => {
  test('every view', async () => {
    const page = await enter(browser, await linkOf(desk.mailbox), { theme, size: width === 'wide' ? WIDE : NARROW })
    for (const [name, come] of Object.entries(VIEWS)) {
      await come(page)
      expect({ name, faults: await faults(page), sideways: await sideways(page) }).toEqual({
        name,
        faults: [],
        sideways: 0,
      })
      expect(await page.locator('h1').count()).toBe(1)
    }
    await page.context().close()
  })

  test('the page without a login', async () => {
    const context = await browser.newContext({ colorScheme: theme, viewport: width === 'wide' ? WIDE : NARROW })
    const page = await context.newPage()
    await page.goto(`${desk.mailbox.url}/ui#login=${'0'.repeat(64)}`)
    await page.getByRole('alert').waitFor()
    expect(await faults(page)).toEqual([])
    expect(await sideways(page)).toBe(0)
    await context.close()
  })
})

test.each<Theme>(['light', 'dark'])('the pictures, %s', async (theme) => {
  if (process.env.UPDATE_GOLDEN) {
    mkdirSync(PICTURES, { recursive: true })
    const page = await enter(browser, await linkOf(desk.mailbox), { theme, size: PICTURE })
    for (const [name, come] of Object.entries(VIEWS)) {
      await come(page)
      await page.waitForTimeout(300)
      await page.screenshot({ path: join(PICTURES, `${name}-${theme}.png`) })
    }
    await page.context().close()
  }
  const readme = readFileSync(join(import.meta.dir, '..', '..', 'README.md'), 'utf8')
  for (const name of Object.keys(VIEWS)) {
    expect({ name, shown: readme.includes(`test/golden/ui/${name}-${theme}.png`) }).toEqual({ name, shown: true })
    expect(await Bun.file(join(PICTURES, `${name}-${theme}.png`)).exists()).toBe(true)
  }
})
