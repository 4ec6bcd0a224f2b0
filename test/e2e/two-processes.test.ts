// Who may run beside whom: one mailbox per folder, one per port, other programs are left alone, leftovers are no obstacle.
import { afterEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { tempFolder } from '../support/temp.ts'
import { BINARY, Mailbox } from './support/mailbox.ts'

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

async function mailboxOf(): Promise<Mailbox> {
  const mailbox = await Mailbox.start()
  opened.push(() => mailbox[Symbol.asyncDispose]())
  return mailbox
}

function folder(): string {
  const temp = tempFolder()
  opened.push(() => temp[Symbol.dispose]())
  return temp.path
}

const environment = (home: string) => ({ PATH: process.env.PATH ?? '', HOME: home, M4A_RECOGNISED_AGENTS: '' })

/** Starts a daemon that should not come up, and what it says. */
async function refused(
  home: string,
  ...options: string[]
): Promise<{ exit: number | null; kind: string; message: string; err: string }> {
  const child = Bun.spawn([BINARY, 'serve', '--json', ...options], {
    env: environment(home),
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
  const err = await new Response(child.stderr).text()
  const exit = await child.exited
  clearTimeout(timer)
  const line = err.split('\n').find((one) => one.startsWith('{')) ?? '{}'
  return { exit, kind: '', message: '', ...JSON.parse(line), err }
}

/** A daemon of no Mailbox: by another user, or with a socket elsewhere. It has to come up. */
async function serve(
  argv: string[],
  data: string,
  home: string,
): Promise<{ pid: number; port: number; stop(): Promise<number> }> {
  const child = Bun.spawn(argv, { env: environment(home), stdin: 'ignore', stdout: 'ignore', stderr: 'pipe', cwd: '/' })
  opened.push(async () => {
    child.kill('SIGKILL')
    await child.exited
  })
  for (let tries = 0; tries < 400; tries++) {
    const file = join(data, 'daemon.json')
    if (existsSync(file)) {
      const { pid, port } = JSON.parse(readFileSync(file, 'utf8'))
      const up = pid === child.pid ? await fetch(`http://127.0.0.1:${port}/health`).catch(() => null) : null
      if (up) {
        const stop = () => {
          child.kill('SIGTERM')
          return child.exited
        }
        return { pid, port, stop }
      }
    }
    if (child.exitCode !== null) throw new Error(await new Response(child.stderr).text())
    await Bun.sleep(20)
  }
  throw new Error('the daemon does not come up')
}

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

describe('leftovers', () => {
  test('of a kill -9: the socket file, daemon.json and the lock are no obstacle', async () => {
    const mailbox = await mailboxOf()
    const token = await mailbox.account('ann')
    await mailbox.down('SIGKILL')
    for (const name of ['m4a.sock', 'daemon.json', 'lock']) expect(existsSync(join(mailbox.data, name))).toBe(true)
    await mailbox.up()
    expect((await (await mailbox.actor(token)).ask('socket', 'whoami')).account).toBe('ann')
  })

  test('a daemon.json that is not ours, torn or of another process, is replaced', async () => {
    const mailbox = await mailboxOf()
    await mailbox.down('SIGKILL')
    for (const text of ['', '{"pid":1', JSON.stringify({ pid: 1, port: 1, socket: null })]) {
      writeFileSync(join(mailbox.data, 'daemon.json'), text)
      await mailbox.up()
      expect(JSON.parse(readFileSync(join(mailbox.data, 'daemon.json'), 'utf8')).pid).toBe(mailbox.daemon.pid)
      await mailbox.down('SIGKILL')
    }
  })

  test('a stop leaves neither socket nor daemon.json', async () => {
    const mailbox = await mailboxOf()
    expect((await mailbox.down('SIGTERM')).code).toBe(0)
    expect(existsSync(mailbox.socket)).toBe(false)
    expect(existsSync(join(mailbox.data, 'daemon.json'))).toBe(false)
  })

  test('what lies in the place of the socket and is none is not removed', async () => {
    const home = folder()
    const data = join(home, 'data')
    mkdirSync(data, { mode: 0o700 })
    for (const put of [() => writeFileSync(join(data, 'm4a.sock'), 'precious'), () => undefined]) {
      put()
      const answer = await refused(home, '--data-dir', data, '--port', '0')
      expect(answer).toMatchObject({ exit: 1, kind: 'port_taken', path: join(data, 'm4a.sock') })
      expect(readFileSync(join(data, 'm4a.sock'), 'utf8')).toBe('precious')
    }
  })

  test('an operator.key without a store is used again, one that is open to others is not', async () => {
    const home = folder()
    for (const [mode, kept] of [
      [0o600, true],
      [0o644, false],
    ] as const) {
      const data = join(home, `data-${mode}`)
      mkdirSync(data, { mode: 0o700 })
      const key = 'ab'.repeat(32)
      writeFileSync(join(data, 'operator.key'), key, { mode })
      chmodSync(join(data, 'operator.key'), mode)
      const daemon = await serve([BINARY, 'serve', '--data-dir', data, '--port', '0'], data, home)
      expect(readFileSync(join(data, 'operator.key'), 'utf8').trim() === key).toBe(kept)
      expect(statSync(join(data, 'operator.key')).mode & 0o777).toBe(0o600)
      expect(await daemon.stop()).toBe(0)
    }
  })
})

describe('a data folder', () => {
  test('that others may look into is refused and not changed', async () => {
    const home = folder()
    for (const mode of [0o755, 0o750, 0o701]) {
      const data = join(home, `data-${mode}`)
      mkdirSync(data)
      chmodSync(data, mode)
      const answer = await refused(home, '--data-dir', data, '--port', '0')
      expect(answer).toMatchObject({ exit: 1, kind: 'bad_permissions', path: data })
      expect(statSync(data).mode & 0o777).toBe(mode)
      expect(readdirSync(data)).toEqual([])
    }
  })

  test('with a store of a newer mail4agent, or a damaged one, is refused by name and left as it is', async () => {
    const mailbox = await mailboxOf()
    await mailbox.account('ann')
    await mailbox.down('SIGTERM')
    const store = join(mailbox.data, 'mail.sqlite')
    const whole = readFileSync(store)
    const newer = Buffer.from(whole)
    newer.writeUInt32BE(9_999, 60) // user_version, SQLite file format 1.3
    const damaged = Buffer.concat([Buffer.from('no database at all, '.repeat(300)), whole.subarray(6_000)])
    for (const [bytes, kind] of [
      [newer, 'newer_store'],
      [damaged, 'damaged_store'],
    ] as const) {
      for (const left of ['-wal', '-shm']) if (existsSync(store + left)) await Bun.file(store + left).delete()
      writeFileSync(store, bytes)
      expect(await refused(mailbox.root, '--data-dir', mailbox.data, '--port', '0')).toMatchObject({ exit: 1, kind })
      expect(readFileSync(store).equals(bytes)).toBe(true)
    }
    writeFileSync(store, whole)
    await mailbox.up()
    expect(JSON.stringify(await mailbox.admin('participant/list', {}))).toContain('"ann"')
  })
})

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0 && Bun.which('setpriv') !== null
const drop = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--inh-caps=-all']

describe.skipIf(!isRoot)('as a user that is not root', () => {
  test('it serves its own, refuses root’s processes, and its files are closed to others', async () => {
    const home = folder()
    const binary = join(home, 'mail4agent')
    copyFileSync(BINARY, binary)
    chmodSync(binary, 0o755)
    chmodSync(home, 0o755)
    const own = join(home, 'own')
    mkdirSync(own, { mode: 0o700 })
    chownSync(own, NOBODY, NOBODY)
    const data = join(own, 'data')
    const daemon = await serve([...drop, binary, 'serve', '--data-dir', data, '--port', '0'], data, own)
    expect(statSync(data)).toMatchObject({ uid: NOBODY })
    expect(await (await fetch(`http://127.0.0.1:${daemon.port}/health`)).json()).toMatchObject({
      ok: true,
      attestation: { ok: true },
    })

    // root may read the key, but is another user
    const key = readFileSync(join(data, 'operator.key'), 'utf8').trim()
    const answer = await fetch(`http://127.0.0.1:${daemon.port}/mail/whoami`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{}',
    })
    expect({ status: answer.status, ...((await answer.json()) as object) }).toMatchObject({
      status: 403,
      kind: 'other_user',
    })

    const whoami = Bun.spawn([...drop, binary, 'whoami', '--as', 'operator', '--json', '--data-dir', data], {
      env: environment(own),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      cwd: '/',
    })
    const [out, err] = await Promise.all([new Response(whoami.stdout).text(), new Response(whoami.stderr).text()])
    expect({ code: await whoami.exited, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(out)).toMatchObject({ account: 'operator', card: { attested: { uid: NOBODY } } })
    expect(await daemon.stop()).toBe(0)
  })

  test('the folder of another user is refused', async () => {
    const home = folder()
    const binary = join(home, 'mail4agent')
    copyFileSync(BINARY, binary)
    chmodSync(binary, 0o755)
    chmodSync(home, 0o755)
    const data = join(home, 'data')
    mkdirSync(data, { mode: 0o700 })
    const child = Bun.spawn([...drop, binary, 'serve', '--json', '--data-dir', data, '--port', '0'], {
      env: environment(home),
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
      cwd: '/',
    })
    const err = await new Response(child.stderr).text()
    expect({ code: await child.exited, kind: /"kind":"(\w+)"/.exec(err)?.[1] }).toEqual({
      code: 1,
      kind: 'bad_permissions',
    })
    expect(readdirSync(data)).toEqual([])
  })
})
