// What a start finds in its data folder: leftovers of a kill, things in the way, foreign stores; and starts as another user.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { BINARY } from './support/mailbox.ts'
import { closeAfterEach, environment, folder, mailboxOf, refused, serve } from './support/serve.ts'

closeAfterEach()

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

  test('ten stops, each right after a send: every time the store is one whole file without a log beside it', async () => {
    const mailbox = await mailboxOf()
    const token = await mailbox.account('ann')
    for (let round = 1; round <= 10; round++) {
      const { status } = await mailbox.post('/mail/send', token, { to: 'ann', subject: 's', body: `round ${round}` })
      expect(status).toBe(200)
      await mailbox.down('SIGTERM')
      const log = statSync(join(mailbox.data, 'mail.sqlite-wal'), { throwIfNoEntry: false })?.size ?? 0
      const alone = join(mailbox.root, `alone-${round}`)
      copyFileSync(join(mailbox.data, 'mail.sqlite'), alone)
      const db = new Database(alone)
      const { letters } = db.query('SELECT count(*) AS letters FROM message').get() as { letters: number }
      db.close()
      expect({ round, log, letters }).toEqual({ round, log: 0, letters: round })
      await mailbox.up()
    }
  }, 30_000)

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

// only root can become another user
describe.if(isRoot)('as a user that is not root', () => {
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
