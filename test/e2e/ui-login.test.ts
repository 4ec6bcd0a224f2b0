// Logging in to the page, and who cannot: a second use, an agent, other pages on this machine, a rebound name; and how a login ends.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { copyAs } from './support/family.ts'
import { BINARY, Mailbox } from './support/mailbox.ts'
import { browse, enter, linkOf, show } from './support/ui.ts'

setDefaultTimeout(60_000)

let mailbox: Mailbox
let browser: Browser
/** A shell that passes for an agent client. */
let agent: string
beforeAll(async () => {
  mailbox = await Mailbox.start({ M4A_RECOGNISED_AGENTS: 'claude' })
  agent = copyAs(mailbox, 'claude', '/bin/sh')
  // names of the attacker that lead to this machine, as a rebinding DNS server answers
  browser = await browse('--host-resolver-rules=MAP *.attacker.test 127.0.0.1')
})
afterAll(async () => {
  await browser?.close()
  await mailbox?.[Symbol.asyncDispose]()
})

const secretOf = (link: string): string => link.slice(link.indexOf('=') + 1)
const alert = (page: Page) => page.getByRole('alert')

/** One of our commands with the operator's key, below `shell` or on its own. */
async function command(words: readonly string[], more: { shell?: string; path?: string } = {}) {
  const ours = [BINARY, '--data-dir', mailbox.data, ...words]
  const argv = more.shell ? [more.shell, '-c', `${ours.join(' ')}\ncode=$?; true; exit $code`] : ours
  const child = Bun.spawn(argv, {
    env: { PATH: more.path ?? process.env.PATH ?? '', HOME: mailbox.root, M4A_RECOGNISED_AGENTS: 'claude' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { out, err, code }
}

describe('the link', () => {
  test('logs in once; the secret leaves the address and the history, the key stays in the tab, no cookie is set', async () => {
    const { out } = await command(['ui'])
    const link = out.trim()
    expect(link).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${mailbox.port}/ui#login=[0-9a-f]{64}$`))
    const page = await enter(browser, link)
    expect(page.url()).toBe(`${mailbox.url}/ui`)
    const kept = await page.evaluate(() => ({
      session: Object.keys(sessionStorage),
      local: Object.keys(localStorage),
      text: JSON.stringify(sessionStorage),
      cookie: document.cookie,
      history: history.length,
    }))
    expect(kept).toMatchObject({ session: ['m4a.login'], local: [], cookie: '' })
    expect(kept.text).not.toContain(secretOf(link))
    expect(await page.context().cookies()).toEqual([])
    await page.reload()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.goBack().catch(() => null)
    expect(page.url()).not.toContain('login')

    const second = await (await browser.newContext()).newPage()
    await second.goto(link)
    await alert(second).getByText('This link was used, or is older than a minute.').waitFor()
    await page.context().close()
    await second.context().close()
  })

  test('the page is one origin with a strict policy, and holds nothing before the login', async () => {
    const page = await (await browser.newContext()).newPage()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).origin))
    const answer = await page.goto(`${mailbox.url}/ui`)
    const headers = answer?.headers() ?? {}
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    })
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    expect([...new Set(asked)].filter((origin) => origin !== 'null')).toEqual([mailbox.url])
    await page.context().close()
  })

  test('a person who is no operator sees its own mail, and who is there', async () => {
    const token = await mailbox.account('ada', { kind: 'person' })
    await mailbox.post('/mail/send', mailbox.operatorKey, { to: 'ada', subject: 'for ada', body: 'hello' })
    await mailbox.account('other')
    await mailbox.post('/mail/send', mailbox.operatorKey, { to: 'other', subject: 'not for ada', body: 'hello' })
    const page = await enter(browser, await linkOf(mailbox, token), { at: '#/mail/ada' })
    await page.getByText('for ada').first().waitFor()
    expect(await page.getByRole('link', { name: 'All mail' }).count()).toBe(0)
    await show(page, '#/all')
    await alert(page).getByText('this needs the capability operator').waitFor()
    await show(page, '#/mail/other')
    expect(await page.getByText('not for ada').count()).toBe(0)
    await page.context().close()
  })

  test('--open gives the browser a file of the owner alone, and no argument list holds the secret', async () => {
    // stands for the desktop's opener: notes what it was given, and what that file said and who could read it
    const seen = join(mailbox.root, 'opened')
    writeFileSync(
      join(mailbox.root, 'xdg-open'),
      `#!/bin/sh\nf="\${1#file://}"\n{ echo "$1"; stat -c %a "$f"; cat "$f"; } > ${seen}\nkill -INT $PPID\n`,
    )
    chmodSync(join(mailbox.root, 'xdg-open'), 0o755)
    const { out } = await command(['ui', '--open'], { path: `${mailbox.root}:${process.env.PATH}` })
    const [given, mode, ...html] = readFileSync(seen, 'utf8').split('\n')
    expect(given).toBe(`file://${mailbox.data}/ui-login.html`)
    expect(mode).toBe('600')
    expect(html.join('\n')).toContain(`url=${out.trim()}"`)
    expect(await Bun.file(join(mailbox.data, 'ui-login.html')).exists()).toBe(false)
    // a browser that opens such a file ends up on the page, logged in
    const copy = join(mailbox.root, 'copy.html')
    writeFileSync(copy, html.join('\n'))
    const page = await (await browser.newContext()).newPage()
    await page.goto(`file://${copy}`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.context().close()
  })
})

describe('an agent', () => {
  test('can ask for no link with its person’s token, and cannot use a link that it got hold of', async () => {
    expect(await command(['ui', '--json'], { shell: agent })).toMatchObject({ code: 1, out: '' })
    const link = await linkOf(mailbox)
    const body = JSON.stringify({ secret: secretOf(link) })
    const curl = `curl -s -H 'content-type: application/json' -d '${body}' ${mailbox.url}/ui/login`
    const stolen = Bun.spawn([agent, '-c', `${curl}\ntrue`], { stdout: 'pipe', env: { PATH: process.env.PATH ?? '' } })
    expect(JSON.parse(await new Response(stolen.stdout).text())).toMatchObject({ kind: 'agent_ancestor' })
    // its person still can
    const page = await enter(browser, link)
    const key = await page.evaluate(() => JSON.parse(sessionStorage.getItem('m4a.login') ?? '{}').key)
    const with_key = `curl -s -H 'content-type: application/json' -H 'authorization: Bearer ${key}' -d '{}' ${mailbox.url}`
    const used = Bun.spawn([agent, '-c', `${with_key}/mail/whoami\ntrue`], {
      stdout: 'pipe',
      env: { PATH: process.env.PATH ?? '' },
    })
    expect(JSON.parse(await new Response(used.stdout).text())).toMatchObject({ kind: 'agent_ancestor' })
    await page.context().close()
  })

  test('accounts of agents get none', async () => {
    const token = await mailbox.account('agent')
    expect(await mailbox.post('/ui/link', token, {})).toMatchObject({
      status: 403,
      body: { kind: 'permission_denied' },
    })
  })

  test('a key makes no accounts, no tokens and no further links', async () => {
    const page = await enter(browser, await linkOf(mailbox))
    const key = await page.evaluate(() => JSON.parse(sessionStorage.getItem('m4a.login') ?? '{}').key)
    for (const [path, request] of [
      ['/admin/participant', { id: 'mallory', operator: true }],
      ['/admin/participant/rotate', { id: 'operator' }],
      ['/admin/backup', {}],
      ['/ui/link', {}],
    ] as const)
      expect(await mailbox.post(path, key, request)).toMatchObject({ status: 403, body: { kind: 'permission_denied' } })
    expect(await mailbox.post('/admin/overview', key, {})).toMatchObject({ status: 200 })
    // of its own mailbox it may do all that its account may
    for (const [op, request] of [
      ['contacts', {}],
      ['archive', {}],
      ['receipts', {}],
      ['stats', {}],
      ['follow', {}],
      ['notify', { do: 'status' }],
      ['alias', { name: 'me', address: 'operator' }],
      ['close_all', { subject: 'there is none of that subject' }],
    ] as const)
      expect({ op, ...(await mailbox.post(`/mail/${op}`, key, request)) }).toMatchObject({ op, status: 200 })
    await page.context().close()
  })
})

describe('other pages', () => {
  test('of another port of this machine get nothing, with a login open beside them', async () => {
    const page = await enter(browser, await linkOf(mailbox))
    const key = await page.evaluate(() => JSON.parse(sessionStorage.getItem('m4a.login') ?? '{}').key)
    using other = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response('<!doctype html><p>hello', { headers: { 'content-type': 'text/html' } }),
    })
    const evil = await page.context().newPage()
    await evil.goto(`http://127.0.0.1:${other.port}/`)
    const got = await evil.evaluate(
      async ([base, key]) => {
        const tries: Record<string, string> = {}
        const attempt = async (name: string, path: string, init: RequestInit) => {
          tries[name] = await fetch(base + path, init).then(
            async (answer) => `${answer.type} ${answer.status} ${await answer.text()}`,
            () => 'nothing',
          )
        }
        const json = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
        await attempt('read', '/mail/inbox', { method: 'POST', headers: json, body: '{}' })
        await attempt('events', '/events', { headers: { authorization: `Bearer ${key}` } })
        await attempt('health', '/health', {})
        await attempt('page', '/ui', {})
        await attempt('blind', '/mail/send', { method: 'POST', mode: 'no-cors', body: '{"to":"operator","body":"x"}' })
        const frame = document.createElement('iframe')
        frame.src = `${base}/ui`
        document.body.append(frame)
        await new Promise((resolve) => {
          frame.onload = resolve
        })
        tries.frame = String(frame.contentDocument?.body.textContent ?? 'nothing')
        tries.storage = JSON.stringify(sessionStorage)
        return tries
      },
      [mailbox.url, key] as const,
    )
    expect(got).toEqual({
      read: 'nothing',
      events: 'nothing',
      health: 'nothing',
      page: 'nothing',
      blind: 'opaque 0 ',
      frame: 'nothing',
      storage: '{}',
    })
    const { body } = await mailbox.post('/admin/mailbox', mailbox.operatorKey, { account: 'operator' })
    expect(body.letters).toEqual([])
    // and what the mailbox itself says to that page, key or not
    for (const path of ['/mail/inbox', '/ui/login', '/ui/link']) {
      const answer = await fetch(mailbox.url + path, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${key}`,
          origin: `http://127.0.0.1:${other.port}`,
        },
        body: '{}',
      })
      expect(await answer.json()).toMatchObject({ kind: 'bad_origin' })
    }
    await page.context().close()
  })

  test('under a name that was rebound to this machine get nothing', async () => {
    const page = await (await browser.newContext()).newPage()
    const answer = await page.goto(`http://rebound.attacker.test:${mailbox.port}/ui`)
    expect(answer?.status()).toBe(403)
    expect(await answer?.json()).toMatchObject({ kind: 'bad_host' })
    const link = await linkOf(mailbox)
    const got = await page.evaluate(async (secret) => {
      const answer = await fetch('/ui/login', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ secret }),
      })
      return { status: answer.status, body: await answer.json() }
    }, secretOf(link))
    expect(got).toMatchObject({ status: 403, body: { kind: 'bad_host' } })
    // the link was not used up
    const own = await enter(browser, link)
    await own.context().close()
    await page.context().close()
  })
})

describe('a login ends', () => {
  test('when its time is over; what was being written is still there after the next one', async () => {
    const page = await enter(browser, await linkOf(mailbox, mailbox.operatorKey, 3), { at: '#/write?to=operator' })
    await page.getByLabel('Letter').fill('half a letter')
    await Bun.sleep(3_000)
    await page.getByRole('button', { name: 'Send' }).click()
    await alert(page).getByText('Your login has expired.').waitFor()
    expect(await page.evaluate(() => sessionStorage.getItem('m4a.login'))).toBeNull()
    await page.getByText('mail4agent ui').waitFor()
    // a new link in the same tab changes the fragment alone
    await page.goto(await linkOf(mailbox))
    await page.locator('.connection.live').waitFor()
    expect(page.url()).not.toContain('login')
    await show(page, '#/write?to=operator')
    expect(await page.getByLabel('Letter').inputValue()).toBe('half a letter')
    await page.context().close()
  })

  test('from the command line, and from the page for itself alone', async () => {
    await command(['ui', '--logout'])
    const one = await enter(browser, await linkOf(mailbox))
    const two = await enter(browser, await linkOf(mailbox))
    await one.getByRole('button', { name: 'Log out' }).click()
    await one.getByText('You have logged out.').waitFor()
    await show(two, '#/rooms')
    await two.getByRole('heading', { name: 'Rooms' }).waitFor()
    expect(await command(['ui', '--logout'])).toMatchObject({ out: 'ended 1 login\n', code: 0 })
    await show(two, '#/all')
    await two.getByRole('heading', { name: 'Log in' }).waitFor()
    await one.context().close()
    await two.context().close()
  })

  test('when the account gets a new token', async () => {
    const token = await mailbox.account('eve', { kind: 'person' })
    const page = await enter(browser, await linkOf(mailbox, token))
    await mailbox.admin('participant/rotate', { id: 'eve' })
    await show(page, '#/rooms')
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    await page.context().close()
  })

  test('when the mailbox is restarted; the page says so by itself, and a new link leads back to the same view', async () => {
    const page = await enter(browser, await linkOf(mailbox), { at: '#/rooms' })
    await mailbox.down()
    await page.getByText('no answer, trying again').waitFor()
    await mailbox.up({ M4A_RECOGNISED_AGENTS: 'claude' })
    await alert(page).getByText('The mailbox was restarted, and that ends every login.').waitFor()
    await page.goto(await linkOf(mailbox))
    await page.getByRole('heading', { name: 'Rooms' }).waitFor()
    await page.locator('.connection.live').waitFor()
    await page.context().close()
  })
})
