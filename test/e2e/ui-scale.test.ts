// The page with 100,000 letters: each view reads one page of them, and is there as soon as with a few.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { readFragment } from '../../src/engine/fragment.ts'
import { openStore } from '../../src/store/open.ts'
import { messageId } from '../../src/wire/names.ts'
import { rfc3339 } from '../../src/wire/time.ts'
import { addSession, post, toAccount, toSession } from '../support/population.ts'
import { Mailbox } from './support/mailbox.ts'
import { browse, enter, linkOf, show } from './support/ui.ts'

setDefaultTimeout(180_000)

const LETTERS = 100_000
const BATCH = 2_000

let mailbox: Mailbox
let browser: Browser
beforeAll(async () => {
  mailbox = await Mailbox.start()
  await mailbox.account('claude')
  await mailbox.account('codex')
  await mailbox.down()
  await populate(join(mailbox.data, 'mail.sqlite'))
  await mailbox.up()
  browser = await browse()
}, 180_000)
afterAll(async () => {
  await browser?.close()
  await mailbox?.[Symbol.asyncDispose]()
})

/** Most of them to one account, one in a hundred to one of its sessions; all in one thread, none closed. */
async function populate(path: string): Promise<void> {
  const store = await openStore(path)
  const claude = store.registry.account('claude')
  const codex = store.registry.account('codex')
  if (!claude || !codex) throw new Error('no accounts')
  const [from, to] = [await addSession(store, codex), await addSession(store, claude)]
  const fragment = (number: number, thread: number) => (id: number, random: string, created: number) => {
    const own = messageId(id, random)
    const first = thread === 0 ? own : messageId(thread, '0'.repeat(12))
    const text = `"message_id":"${own}","thread":"${first}","from":{"kind":"session","participant":"codex","session":"${from.name}"},"from_text":"codex/${from.name}","subject":"letter ${number}","body":"${'word '.repeat(40)}${number}","reply_to":null,"correlation":null,"refs":[],"hop":0,"created_at":"${rfc3339(created)}","created_at_unix_ms":${created}`
    readFragment(text)
    return text
  }
  const root = await post(store, codex, from, [toAccount(claude)], { fragment: fragment(0, 0) })
  for (let done = 1; done < LETTERS; done += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, LETTERS - done) }, (_, index) => done + index)
    await Promise.all(
      numbers.map((number) =>
        post(store, codex, from, [number % 100 === 0 ? toSession(claude, to) : toAccount(claude)], {
          thread: root.id,
          parent: root.id,
          fragment: fragment(number, root.id),
        }),
      ),
    )
  }
  await store.close()
}

/** Milliseconds until `ready` after going to the view. */
async function time(page: Page, view: string, ready: string): Promise<number> {
  const began = performance.now()
  await show(page, view)
  await page.locator(ready).first().waitFor()
  return Math.round(performance.now() - began)
}

test('views open, lists go on a page at a time, and a letter that comes is on top', async () => {
  const page = await enter(browser, await linkOf(mailbox))
  await time(page, '#/search?q=99999', 'a.letter-row') // the index catches up once
  const took = {
    overview: await time(page, '#/', '.accounts > li'),
    mail: await time(page, '#/mail/claude', 'a.letter-row'),
    sent: await time(page, '#/mail/codex?state=sent', 'a.letter-row'),
    all: await time(page, '#/all', 'a.letter-row'),
    search: await time(page, '#/search?q=word', 'a.letter-row'),
    empty: await time(page, '#/mail/operator', '.empty'),
  }
  for (const [view, ms] of Object.entries(took)) expect({ view, soon: ms < 2_000 }).toEqual({ view, soon: true })
  await show(page, '#/mail/claude')
  const rows = page.locator('a.letter-row')
  expect(await rows.count()).toBe(50)
  expect(await rows.first().textContent()).toContain('letter 99999')
  const began = performance.now()
  for (let pages = 2; pages <= 11; pages++) {
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.waitForFunction((count) => document.querySelectorAll('a.letter-row').length === count, pages * 50)
  }
  const more = Math.round((performance.now() - began) / 10)
  expect(await rows.last().textContent()).toContain('letter 99450')
  await mailbox.post('/mail/send', mailbox.operatorKey, { to: 'claude', subject: 'the newest', body: '.' })
  const arrived = performance.now()
  await rows.first().getByText('the newest').waitFor()
  const live = Math.round(performance.now() - arrived)
  console.log(`100,000 letters, ms until shown: ${JSON.stringify({ ...took, more, live })}`)
  expect(await rows.count()).toBe(551)
  await page.context().close()
})

test('a thread of 100,000 letters opens with its first page', async () => {
  const page = await enter(browser, await linkOf(mailbox), { at: '#/mail/claude' })
  await page.locator('a.letter-row', { hasText: 'letter 99999' }).click()
  await page.locator('article').first().waitFor()
  expect(await page.locator('article').count()).toBeLessThanOrEqual(50)
  await page.getByText('Show more of the thread').waitFor()
  await page.context().close()
})
