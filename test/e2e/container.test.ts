// A mailbox in a container: namespaces of its own for users, processes, mounts and network. Who is inside is proved; who is outside is refused by name.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Peer, python, startPeer } from './support/asking-peer.ts'
import { BINARY } from './support/mailbox.ts'
import { passNested } from './support/nested.ts'

setDefaultTimeout(60_000)

const NOBODY = 65534
const PLAIN = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--inh-caps=-all']
/** What a container runtime without privileges does: user_namespaces(7), pid_namespaces(7), network_namespaces(7). */
const CONTAINER = [
  ...['unshare', '--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount', '--mount-proc', '--net'],
  ...['sh', '-c', 'ip link set lo up && exec "$@"', 'sh'],
]
const isRoot = process.getuid?.() === 0 && Bun.which('setpriv') !== null
const can = process.platform === 'linux' && python !== null && Bun.which('ip') !== null && Bun.which('nsenter') !== null
const works = (wrap: readonly string[]) => can && Bun.spawnSync([...wrap, ...CONTAINER, 'true']).success
const ATTACKS = ['-t', 'as the user of the test', join(import.meta.dir, 'attest-attacks.test.ts')]

describe.if(works([]))('a container', () => {
  test('the attacks from within', () => passNested(ATTACKS, {}, CONTAINER), 300_000)

  test.if(isRoot && works(PLAIN))(
    'the attacks from within, in one of a plain user',
    () => passNested(ATTACKS, { HOME: '/', TMPDIR: tmpdir() }, [...PLAIN, ...CONTAINER]),
    300_000,
  )

  describe('and who calls a mailbox in it', () => {
    const home = mkdtempSync(join(tmpdir(), 'm4a-container-'))
    const data = join(home, 'data')
    const peers: Peer[] = []
    let daemon: Bun.Subprocess
    let inner: number
    let facts: { port: number; socket: string }

    beforeAll(async () => {
      mkdirSync(data, { mode: 0o700 })
      daemon = Bun.spawn([...CONTAINER, BINARY, 'serve', '--port', '0', '--data-dir', data], {
        env: { PATH: process.env.PATH ?? '', HOME: home, M4A_RECOGNISED_AGENTS: '' },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const read = async () => JSON.parse(await Bun.file(join(data, 'daemon.json')).text())
      for (let tries = 0; facts === undefined && tries < 500; tries++) {
        facts = await read().catch(() => undefined)
        await Bun.sleep(20)
      }
      // what `unshare --fork` started is the first process inside, and the mailbox
      inner = Number(readFileSync(`/proc/${daemon.pid}/task/${daemon.pid}/children`, 'utf8'))
    })
    afterAll(async () => {
      for (const peer of peers) await peer.close()
      daemon.kill('SIGKILL')
      await daemon.exited
      rmSync(home, { recursive: true, force: true })
    })

    const enter = (...spaces: string[]) => ['nsenter', '--target', String(inner), '--preserve-credentials', ...spaces]
    async function peer(to: number | string, wrap: string[]): Promise<Peer> {
      const operator = readFileSync(join(data, 'operator.key'), 'utf8').trim()
      const started = await startPeer(to, operator, wrap)
      peers.push(started)
      return started
    }

    test('one inside is named as the container names it, over TCP and over the socket', async () => {
      for (const to of [facts.port, facts.socket]) {
        const one = await peer(to, enter('--user', '--pid', '--mount', '--net'))
        const { card } = await one.ask('connect send')
        expect(card.attested).toMatchObject({ pid: one.pid, uid: 0 })
        expect(await one.ask('fork send')).toMatchObject({ kind: 'shared_connection' })
        await one.do('leave')
      }
    })

    test('one outside that shares its network is refused: nobody whom the mailbox sees holds the connection', async () => {
      const one = await peer(facts.port, enter('--user', '--net'))
      const refused = await one.ask('connect send')
      expect(refused).toMatchObject({ kind: 'no_holder', seen: { inode: expect.any(Number) } })
      expect(refused.hint).toContain('outside containers')
    })

    test('one outside that reaches its socket by the file is refused, too', async () => {
      const one = await peer(facts.socket, [])
      const refused = await one.ask('connect send')
      expect(['no_holder', 'peer_gone', 'other_user']).toContain(refused.kind)
      expect(refused.seen).toBeDefined()
    })

    test('one outside without its network does not reach it', async () => {
      const one = await startPeer(facts.port, 'none')
      await expect(one.do('connect')).rejects.toThrow('the peer has ended')
      await one.close()
    })
  })
})
