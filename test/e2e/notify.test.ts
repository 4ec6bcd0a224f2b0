// Desktop notifications on a real session bus with a notification server of its own: the compiled mailbox, letters, a burst, a failure.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BINARY, CliWorld } from './support/cli-world.ts'
import { havePackages } from './support/packages.ts'

const PYTHON = '/usr/bin/python3'
const runs =
  process.platform === 'linux' &&
  havePackages(['/usr/bin/dbus-daemon', '/usr/lib/python3/dist-packages/jeepney'], ['dbus-daemon', 'python3-jeepney'])

type Said = { summary: string; body: string; replaces: number; app: string; timeout: number; hints: object }

const folder = mkdtempSync(join(tmpdir(), 'm4a-bus-'))
const config = join(folder, 'bus.conf')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A session bus of the test's own, at a path or in the abstract name space: dbus-daemon(1). */
async function bus(listen: string): Promise<{ address: string; stop(): Promise<void> }> {
  writeFileSync(
    config,
    `<busconfig><type>session</type><listen>${listen}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`,
  )
  const words = ['dbus-daemon', `--config-file=${config}`, '--nofork', '--print-address=1']
  const child = Bun.spawn(words, { stdio: ['ignore', 'pipe', 'ignore'] })
  const { value } = await child.stdout.getReader().read()
  const stop = async () => {
    child.kill()
    await child.exited
  }
  return { address: new TextDecoder().decode(value).trim(), stop }
}

class Server {
  readonly said: Said[] = []
  #ready = Promise.withResolvers<void>()
  readonly #child

  constructor(address: string, ...capabilities: string[]) {
    const script = join(import.meta.dir, 'support/notification-server.py')
    this.#child = Bun.spawn([PYTHON, script, address, capabilities.join(',')], { stdio: ['ignore', 'pipe', 'inherit'] })
    void this.#read()
  }

  async #read() {
    let rest = ''
    for await (const chunk of this.#child.stdout) {
      const lines = (rest + new TextDecoder().decode(chunk)).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const said = JSON.parse(line)
        if (said.ready) this.#ready.resolve()
        else this.said.push(said)
      }
    }
  }

  ready = () => this.#ready.promise

  async until(count: number): Promise<Said> {
    for (const end = performance.now() + 15_000; this.said.length < count; await Bun.sleep(20))
      if (performance.now() > end) throw new Error(`${this.said.length} notifications, not ${count}`)
    return this.said[count - 1]!
  }

  async stop() {
    this.#child.kill()
    await this.#child.exited
  }
}

describe.if(runs)('on a session bus', () => {
  let session: Awaited<ReturnType<typeof bus>>
  let server: Server
  let world: CliWorld
  const started: { kill(): void }[] = []

  const serve = async () => {
    const env = { DBUS_SESSION_BUS_ADDRESS: session.address }
    const child = world.spawn([BINARY, 'serve', '--port', '0'], { env })
    started.push(child)
    let said = ''
    for await (const chunk of child.stdout) {
      said += new TextDecoder().decode(chunk)
      if (said.includes('stops it')) break
    }
    expect(said).toContain('stops it')
    return async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') => {
      child.kill(signal)
      const code = await child.exited
      if (signal === 'SIGTERM') expect(code).toBe(0)
    }
  }
  /** One call, so that it is done within the time in which letters are gathered, however busy the machine is. */
  const say = async (to: string) => {
    const stored = (name: string) => readFileSync(join(world.dataDir, name), 'utf8').trim()
    const sent = await fetch(`http://127.0.0.1:${JSON.parse(stored('daemon.json')).port}/mail/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stored('tokens/codex')}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to, subject: 'secret subject', body: 'secret body' }),
    })
    expect(sent.status).toBe(200)
  }
  const notify = (word: string) => world.run(['--as', 'pat', 'notify', word])

  beforeAll(async () => {
    session = await bus(`unix:path=${join(folder, 'bus')}`)
    server = new Server(session.address, 'body', 'body-markup')
    await server.ready()
    world = new CliWorld()
  })
  afterAll(async () => {
    for (const child of started) child.kill() // also where a test failed
    await server.stop()
    await session.stop()
    await world[Symbol.asyncDispose]()
  })

  test('mail for a person is shown: who and how many, together, and replaced by the next', async () => {
    const stop = await serve()
    for (const name of ['pat', 'codex'])
      await world.run(['admin', 'account', 'add', name, ...(name === 'pat' ? ['--person'] : [])])
    await Promise.all(['pat', 'pat', 'pat', 'codex'].map(say))
    const first = await server.until(1)
    expect(first).toMatchObject({
      app: 'mail4agent',
      summary: 'mail4agent: 3 new letters for pat',
      body: '3 from codex',
      replaces: 0,
      timeout: -1,
      hints: { category: ['s', 'email.arrived'], urgency: ['y', 1] },
    })
    await say('pat')
    expect(await server.until(2)).toMatchObject({ summary: 'mail4agent: 1 new letter for pat', replaces: 1 })
    expect(JSON.stringify(server.said)).not.toContain('secret')
    const test = await notify('test')
    expect(test).toMatchObject({ code: 0 })
    expect(test.out).toMatch(
      /^account +pat\nnotifications +on\nthrough +D-Bus org\.freedesktop\.Notifications\nlast shown +20/,
    )
    expect(await server.until(3)).toMatchObject({ body: 'So it looks when mail comes for pat.', replaces: 0 })
    await stop()
  }, 60_000)

  test('what was under way when it was ended by force is shown after the next start, once', async () => {
    const stop = await serve()
    await world.run(['admin', 'account', 'add', 'ann', '--person'])
    await say('ann')
    await stop('SIGKILL')
    const count = server.said.length
    const again = await serve()
    expect(await server.until(count + 1)).toMatchObject({
      summary: 'mail4agent: 1 new letter for ann',
      body: '1 from codex',
    })
    await again()
    const third = await serve()
    await Bun.sleep(1_500)
    expect(server.said).toHaveLength(count + 1)
    await third()
  }, 60_000)

  test('switched off nothing is shown; a rate that is used up outlives a restart', async () => {
    const stop = await serve()
    for (;;) {
      const tried = await world.run(['--as', 'pat', 'notify', 'test', '--json'])
      if (tried.code === 0) continue
      const { retry_after_ms } = JSON.parse(tried.err)
      if (retry_after_ms > 8_000) break
      await Bun.sleep(retry_after_ms)
    }
    const count = server.said.length
    expect((await notify('off')).out).toContain('notifications  off')
    await say('pat')
    expect((await notify('on')).out).toMatch(/notifications +on\n/)
    await say('pat')
    await stop()
    const again = await serve()
    expect((await notify('status')).out).toContain('on, one is about to be shown')
    const refused = await notify('test')
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('too many notifications') })
    expect(server.said).toHaveLength(count)
    await again()
  }, 60_000)

  test('dispatches: done and failed, together, for the person who asked, or for operators where an agent did', async () => {
    const stop = await serve()
    const stored = (name: string) => readFileSync(join(world.dataDir, name), 'utf8').trim()
    const post = async (path: string, token: string, body: object) => {
      const answer = await fetch(`http://127.0.0.1:${JSON.parse(stored('daemon.json')).port}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stored(token)}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      const said = await answer.json()
      expect({ path, status: answer.status, said }).toMatchObject({ status: 200 })
      return said
    }
    for (const [name, words] of [
      ['dee', ['--person', '--can', 'send,read,dispatch']],
      ['boss', ['--can', 'send,read,dispatch']],
      ['good', []],
      ['bad', []],
    ] as const) {
      const made = await world.run(['admin', 'account', 'add', name, ...words])
      expect({ name, ...made }).toMatchObject({ code: 0 })
    }
    for (const [id, program] of [
      ['good', '/bin/true'],
      ['bad', '/bin/false'],
    ] as const) {
      const cwd = mkdtempSync(join(folder, id))
      const profile = { id, cwd, provider: 'command', program, attempts: 1, allow: ['boss'] }
      await post('/admin/agent', 'operator.key', profile)
    }
    const count = server.said.length
    const told = async (what: RegExp) => {
      for (const end = performance.now() + 40_000; performance.now() < end; await Bun.sleep(50)) {
        const found = server.said.slice(count).find(({ summary }) => what.test(summary))
        if (found) return found
      }
      throw new Error(JSON.stringify(server.said.slice(count)))
    }
    // without a letter there is no answer to tell of, so nothing but the end of the dispatch itself
    await post('/mail/dispatch_wake', 'tokens/dee', { target: 'good' })
    expect(await told(/^mail4agent: 1 dispatch done$/)).toMatchObject({ body: 'good is done' })
    await post('/mail/send', 'tokens/dee', { to: 'bad', subject: 'secret', body: 'secret', dispatch: 'fresh' })
    expect(await told(/^mail4agent: 1 dispatch failed$/)).toMatchObject({ body: 'bad failed' })
    await post('/mail/dispatch_wake', 'tokens/boss', { target: 'good' })
    await told(/^mail4agent: 1 new letter for dee$/)
    for (const end = performance.now() + 40_000; performance.now() < end; await Bun.sleep(50))
      if (server.said.slice(count).filter(({ summary }) => summary.endsWith('1 dispatch done')).length === 2) break
    expect(server.said.slice(count).filter(({ summary }) => summary.endsWith('1 dispatch done'))).toHaveLength(2)
    expect(JSON.stringify(server.said)).not.toContain('secret')
    await stop()
  }, 120_000)

  test('an agent has no desktop', async () => {
    const stop = await serve()
    const { code, err } = await world.run(['--as', 'codex', 'notify', 'test', '--json'])
    expect({ code, ...JSON.parse(err) }).toMatchObject({ code: 1, kind: 'permission_denied' })
    await stop()
  }, 30_000)
})

describe.if(runs)('where nothing can be shown', () => {
  test.each([
    ['the desktop refuses', ['fails'], /org\.example\.Error\.Full: no room {1,2}\[31m on the desktop/],
    ['no desktop is there', null, /no desktop on the session bus shows notifications/],
    ['no bus is there', undefined, /the session bus cannot be reached/],
  ] as const)(
    '%s',
    async (_, capabilities, reason) => {
      const session = capabilities === undefined ? null : await bus('unix:abstract=m4a-test-bus')
      const server = capabilities && session ? new Server(session.address, ...capabilities) : null
      await server?.ready()
      await using world = new CliWorld()
      const env = { DBUS_SESSION_BUS_ADDRESS: session?.address ?? `unix:path=${folder}/none` }
      const child = world.spawn([BINARY, 'serve', '--port', '0'], { env })
      for await (const chunk of child.stdout) if (new TextDecoder().decode(chunk).includes('stops it')) break
      await world.run(['admin', 'account', 'add', 'pat', '--person'])
      const test = await world.run(['--as', 'pat', 'notify', 'test', '--json'])
      expect({ code: test.code, ...JSON.parse(test.err) }).toMatchObject({
        code: 1,
        kind: 'not_shown',
        message: expect.stringMatching(reason),
      })
      expect((await world.run(['--as', 'pat', 'notify', 'status'])).out).toMatch(reason)
      const { port } = JSON.parse(readFileSync(join(world.dataDir, 'daemon.json'), 'utf8'))
      const authorization = `Bearer ${readFileSync(join(world.dataDir, 'operator.key'), 'utf8').trim()}`
      const metrics = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization } })
      expect(await metrics.text()).toContain('m4a_notifications_total{outcome="failed"} 1')
      const health = await (await fetch(`http://127.0.0.1:${port}/health`)).json()
      expect(health).toMatchObject({ ok: true, notifications: { failed: 1 } })
      child.kill('SIGTERM')
      expect(await child.exited).toBe(0)
      const said = await new Response(child.stderr).text()
      expect(said).toMatch(/a notification was not shown/)
      expect(said).not.toContain('\u001b')
      await server?.stop()
      await session?.stop()
    },
    60_000,
  )
})
