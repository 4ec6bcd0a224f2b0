// Each refusal of attestation as its caller reads it: the name, what was seen, and what to do.
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, chownSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { REFUSALS } from '../../src/wire/refusal.ts'
import { type Peer, python, startPeer } from './support/asking-peer.ts'
import { BINARY, Mailbox } from './support/mailbox.ts'
import { closeAfterEach, folder, serve } from './support/serve.ts'

closeAfterEach()

setDefaultTimeout(30_000)

const NOBODY = 65534
const as = (uid: number) => ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--inh-caps=-all']
const isRoot = process.getuid?.() === 0 && Bun.which('setpriv') !== null

let mailbox: Mailbox
let token: string
beforeAll(async () => {
  mailbox = await Mailbox.start()
  token = await mailbox.account('ann')
})
afterAll(() => mailbox[Symbol.asyncDispose]())

const peers: Peer[] = []
afterEach(async () => {
  for (const peer of peers.splice(0)) await peer.close()
})
async function peer(...how: Parameters<typeof startPeer>): Promise<Peer> {
  const started = await startPeer(...how)
  peers.push(started)
  return started
}
const number = expect.any(Number)

describe.if(process.platform === 'linux' && python !== null)('a caller', () => {
  test('that is alone is answered', async () => {
    const one = await peer(mailbox.port, token)
    expect((await one.ask('connect send')).card.attested.pid).toBe(one.pid)
  })

  test('whose connection a child has too: both holders', async () => {
    for (const to of [mailbox.port, mailbox.socket]) {
      const one = await peer(to, token)
      await one.do('connect fork')
      const child = await one.do('pid')
      const refused = await one.ask('send')
      expect(refused).toMatchObject({ kind: 'shared_connection', hint: REFUSALS.shared_connection.hint })
      expect(refused.seen.inode).toEqual(number)
      expect(String(refused.seen.holders).split(',').sort()).toEqual([String(one.pid), child].sort())
      expect((await one.ask('leave send')).card.attested.pid).toBe(one.pid)
    }
  })

  test('whose connection travels: how many processes were searched for it', async () => {
    const one = await peer(mailbox.port, token)
    // it must not look before the connection travels
    mailbox.daemon.kill('SIGSTOP')
    await one.do('connect send queue')
    mailbox.daemon.kill('SIGCONT')
    // longer than it waits for a descriptor that a fork has for a moment
    await Bun.sleep(1_000)
    const refused = await one.ask('fetch')
    // where a process of our user is hidden from us, it may be the holder
    expect(['no_holder', 'unreadable']).toContain(refused.kind)
    expect(refused.seen).toMatchObject({ inode: number, processes: number })
    expect((await one.ask('send')).card.attested.pid).toBe(one.pid)
  })

  test.if(isRoot)('of another user: whose, and whose the mailbox is', async () => {
    const stranger = await peer(mailbox.port, token, as(NOBODY))
    expect(await stranger.ask('connect send')).toMatchObject({
      kind: 'other_user',
      hint: REFUSALS.other_user.hint,
      seen: { uid: NOBODY, ours: process.geteuid?.() },
    })
  })

  test.if(isRoot)('that hides from its own user: which process may not be looked at', async () => {
    const home = folder()
    const data = join(home, 'data')
    mkdirSync(data, { mode: 0o700 })
    for (const path of [home, data]) chownSync(path, NOBODY, NOBODY)
    chmodSync(home, 0o711)
    const { port } = await serve([...as(NOBODY), BINARY, 'serve', '--port', '0', '--data-dir', data], data, home)
    const operator = readFileSync(join(data, 'operator.key'), 'utf8').trim()
    const one = await peer(port, operator, as(NOBODY))
    expect((await one.ask('connect send')).card.attested).toMatchObject({ pid: one.pid, uid: NOBODY })
    expect(await one.ask('hide send')).toMatchObject({
      kind: 'unreadable',
      hint: REFUSALS.unreadable.hint,
      seen: { pids: String(one.pid) },
    })
  })
})
