// A full disk, and one that is mounted read-only: what is refused and how, what /health says, and that nothing is lost.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from '../support/temp.ts'
import { Mailbox } from './support/mailbox.ts'
import { closeAfterEach, refused } from './support/serve.ts'

closeAfterEach()

setDefaultTimeout(60_000)

const mount = (...words: string[]) => Bun.spawnSync(['mount', ...words]).success

const folder = tempFolder()
const small = join(folder.path, 'small')
let mounted = false
let mailbox: Mailbox

beforeAll(async () => {
  mkdirSync(small)
  mounted = process.platform === 'linux' && mount('-t', 'tmpfs', '-o', 'size=8m,mode=700', 'tmpfs', small)
  if (!mounted && process.env.CI) throw new Error('a small disk could not be mounted')
  if (!mounted) return
  const usual = process.env.TMPDIR
  process.env.TMPDIR = small // a Mailbox makes its folder among the temporary ones; its log is on the full disk too
  mailbox = await Mailbox.start()
  if (usual === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = usual
})
afterAll(async () => {
  await mailbox?.[Symbol.asyncDispose]()
  if (mounted) Bun.spawnSync(['umount', '-l', small])
  folder[Symbol.dispose]()
})

const letter = { to: 'operator', subject: 's', body: 'q'.repeat(60_000) }
const send = () => mailbox.post('/mail/send', mailbox.operatorKey, letter)
const health = async () => (await fetch(`${mailbox.url}/health`)).json()
/** Takes every block that is left. */
function fill(): void {
  const { bavail, bsize } = statfsSync(small)
  if (bavail > 0) writeFileSync(join(small, 'fill'), Buffer.alloc(bavail * bsize))
}

test('while the disk is full writes are refused with the reason, /health says so, and room is all it takes', async () => {
  if (!mounted) return
  const ids: unknown[] = []
  for (;;) {
    const { status, body } = await send()
    if (status !== 200) {
      expect(body).toMatchObject({ kind: 'store_unavailable', message: expect.stringContaining('full') })
      break
    }
    ids.push(body.message_id)
  }
  expect(await health()).toMatchObject({ ok: false, store: { ok: false, reason: 'database or disk is full' } })
  const copy = await mailbox.post('/admin/backup', mailbox.operatorKey, { name: 'copy' })
  expect(copy).toMatchObject({
    status: 503,
    body: { kind: 'store_unavailable', message: expect.stringContaining('full') },
  })
  expect(existsSync(join(mailbox.data, 'backups', 'copy'))).toBe(false)

  // the mailbox looks for faults every second, and what is small may still find room in between
  for (const end = performance.now() + 3_000; performance.now() < end; await Bun.sleep(50))
    expect((await send()).status).toBe(503)
  mount('-o', 'remount,size=64m', small)
  for (let tries = 0; !(await health()).ok && tries < 100; tries++) await Bun.sleep(50)
  expect(await health()).toMatchObject({ ok: true, store: { ok: true } })
  expect((await send()).status).toBe(200)
  for (const message_id of ids)
    expect((await mailbox.post('/mail/get', mailbox.operatorKey, { message_id, peek: true })).status).toBe(200)
  expect((await mailbox.post('/mail/search', mailbox.operatorKey, { query: 's' })).status).toBe(200)
  expect((await mailbox.post('/admin/backup', mailbox.operatorKey, { name: 'copy' })).status).toBe(200)
  // what could not be told while it lasted is told once it is over, one time
  const told = async () =>
    (await mailbox.post('/mail/search', mailbox.operatorKey, { query: '"fault: store"' })).body.messages as object[]
  for (let tries = 0; (await told()).length === 0 && tries < 400; tries++) await Bun.sleep(50)
  await Bun.sleep(1_500)
  expect(await told()).toMatchObject([
    { from: { participant: 'mail4agent' }, body: expect.stringContaining('database or disk is full') },
  ])
})

test('a start on a full or a read-only disk is refused with the path', async () => {
  if (!mounted) return
  await mailbox.down('SIGKILL')
  const port = ['--port', '0']
  const fresh = join(small, 'fresh')
  fill()
  const full = await refused(mailbox.root, '--data-dir', fresh, ...port)
  expect(full).toMatchObject({ exit: 1, kind: 'store_unavailable', message: expect.stringContaining(small) })
  rmSync(join(small, 'fill'), { force: true })
  mount('-o', 'remount,ro', small)
  for (const dataDir of [mailbox.data, join(small, 'other')]) {
    const closed = await refused(mailbox.root, '--data-dir', dataDir, ...port)
    expect(closed).toMatchObject({ exit: 1, kind: 'bad_permissions', message: expect.stringContaining(dataDir) })
  }
  mount('-o', 'remount,rw', small)
  await mailbox.up()
  expect((await send()).status).toBe(200)
})
