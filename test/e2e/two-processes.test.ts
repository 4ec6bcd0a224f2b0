// Who may run beside whom: one mailbox per folder, one per port and socket; other programs are left alone.
import { describe, expect, test } from 'bun:test'
import { existsSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { BINARY, type Mailbox } from './support/mailbox.ts'
import { closeAfterEach, environment, folder, mailboxOf, opened, refused, serve } from './support/serve.ts'

closeAfterEach()

/** Names, sizes, modes and contents of a folder, so that a change of any shows. */
function picture(path: string): Record<string, string> {
  const all: Record<string, string> = {}
  for (const name of readdirSync(path, { recursive: true, encoding: 'utf8' })) {
    const { mode, ino } = lstatSync(join(path, name))
    const text = lstatSync(join(path, name)).isFile() ? Bun.hash(readFileSync(join(path, name))).toString(16) : ''
    all[name] = `${ino} ${mode.toString(8)} ${text}`
  }
  return all
}

async function works(mailbox: Mailbox, token: string): Promise<void> {
  const { status } = await mailbox.post('/mail/send', token, { to: 'ann', subject: 's', body: 'still working' })
  expect(status).toBe(200)
  expect(await (await fetch(`${mailbox.url}/health`)).json()).toMatchObject({ ok: true })
}

describe('two daemons', () => {
  test('on one folder: the second is refused as already_running and touches nothing', async () => {
    const mailbox = await mailboxOf()
    const token = await mailbox.account('ann')
    await Bun.sleep(300) // let the search index come to rest
    const before = picture(mailbox.data)
    const tries = await Promise.all([
      refused(mailbox.root, '--data-dir', mailbox.data, '--port', '0'),
      refused(mailbox.root, '--data-dir', mailbox.data, '--port', String(mailbox.port)),
      refused(mailbox.root, '--data-dir', mailbox.data, '--port', '0', '--socket', join(mailbox.root, 'other', 's')),
    ])
    for (const { exit, kind, err } of tries)
      expect({ exit, kind, err }).toEqual({ exit: 1, kind: 'already_running', err: expect.any(String) })
    const after = picture(mailbox.data)
    expect(after).toEqual(before)
    expect(existsSync(join(mailbox.root, 'other'))).toBe(false)
    await works(mailbox, token)
  })

  test('on one folder by another name for it', async () => {
    const mailbox = await mailboxOf()
    const link = join(mailbox.root, 'link')
    symlinkSync(mailbox.root, link)
    const { exit, kind } = await refused(mailbox.root, '--data-dir', join(link, 'data'), '--port', '0')
    expect({ exit, kind }).toEqual({ exit: 1, kind: 'already_running' })
  })

  test('ten at once on a new folder: one comes up, nine are refused, and there is one operator', async () => {
    const home = folder()
    const data = join(home, 'data')
    const children = Array.from({ length: 10 }, () =>
      Bun.spawn([BINARY, 'serve', '--json', '--data-dir', data, '--port', '0'], {
        env: environment(home),
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: 'pipe',
      }),
    )
    opened.push(async () => {
      for (const child of children) child.kill('SIGKILL')
      await Promise.all(children.map((child) => child.exited))
    })
    const ended = children.map(async (child) => ({
      code: await child.exited,
      err: await new Response(child.stderr).text(),
    }))
    const losers: { code: number; err: string }[] = []
    for (const one of ended) void one.then((loser) => losers.push(loser))
    for (let tries = 0; tries < 1_000 && losers.length < 9; tries++) await Bun.sleep(20)
    expect(losers.map(({ code, err }) => `${code} ${/"kind":"(\w+)"/.exec(err)?.[1] ?? err}`)).toEqual(
      Array.from({ length: 9 }, () => '1 already_running'),
    )
    for (let tries = 0; tries < 500 && !existsSync(join(data, 'daemon.json')); tries++) await Bun.sleep(20)
    const { pid, port } = JSON.parse(readFileSync(join(data, 'daemon.json'), 'utf8'))
    expect(children.map((child) => child.pid)).toContain(pid)
    const answer = await fetch(`http://127.0.0.1:${port}/mail/whoami`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${readFileSync(join(data, 'operator.key'), 'utf8').trim()}`,
        'content-type': 'application/json',
      },
      body: '{}',
    })
    expect(await answer.json()).toMatchObject({ account: 'operator' })
  }, 60_000)

  test('on one port: the second is refused as port_taken, leaves nothing running, and its folder can be used', async () => {
    const mailbox = await mailboxOf()
    const token = await mailbox.account('ann')
    const home = folder()
    const data = join(home, 'data')
    const second = await refused(home, '--data-dir', data, '--port', String(mailbox.port))
    expect(second).toMatchObject({ exit: 1, kind: 'port_taken', port: mailbox.port })
    expect(second.message).toContain(String(mailbox.port))
    expect(existsSync(join(data, 'daemon.json'))).toBe(false)
    expect(existsSync(join(data, 'm4a.sock'))).toBe(false)
    await works(mailbox, token)
    const third = await serve([BINARY, 'serve', '--data-dir', data, '--port', '0'], data, home)
    expect(third.port).not.toBe(mailbox.port)
    expect(await third.stop()).toBe(0)
  })

  test('on one socket: the second is refused and the first keeps its own', async () => {
    const mailbox = await mailboxOf()
    const token = await mailbox.account('ann')
    const home = folder()
    const before = statSync(mailbox.socket).ino
    const options = ['--data-dir', join(home, 'data'), '--port', '0', '--socket', mailbox.socket]
    expect(await refused(home, ...options)).toMatchObject({ exit: 1, kind: 'port_taken', path: mailbox.socket })
    expect(statSync(mailbox.socket).ino).toBe(before)
    const actor = await mailbox.actor(token)
    expect((await actor.ask('socket', 'whoami')).account).toBe('ann')
    await works(mailbox, token)
  })
})

describe('a port that another program has', () => {
  test.each([['127.0.0.1'], ['::1'], ['0.0.0.0'], ['::']])('on %s', async (address) => {
    const asked: string[] = []
    const server: Server = createServer((socket) => socket.on('data', (bytes) => asked.push(bytes.toString())))
    const listening = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen({ host: address, port: 0 }, () => resolve(true))
    })
    if (!listening) return console.log(`SKIPPED: this machine has no ${address}`)
    opened.push(() => server.close())
    const bound = server.address()
    const port = typeof bound === 'object' && bound ? bound.port : 0
    const home = folder()
    const answer = await refused(home, '--data-dir', join(home, 'data'), '--port', String(port))
    expect(answer).toMatchObject({ exit: 1, kind: 'port_taken', port })
    expect(asked).toEqual([])
    expect(existsSync(join(home, 'data', 'daemon.json'))).toBe(false)
  })
})
