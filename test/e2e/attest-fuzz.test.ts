// Fifty thousand connections of processes that try to be taken for each other: the right process or a named refusal.
// M4A_FUZZ_CONNECTIONS=100000 asks for more, without the limit of a minute.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Endpoint, openAttestor } from '../../src/attest/attestor.ts'
import { HolderScan } from '../../src/attest/linux/holders.ts'
import { SockDiag } from '../../src/attest/linux/sock-diag.ts'

const asked = Number(process.env.M4A_FUZZ_CONNECTIONS ?? 0)
const CONNECTIONS = asked || 50_000
/** Half a minute on two free cores. Where others work too the minute ends it, with fewer connections, but not with few. */
const SECONDS = asked ? 900 : 60
const AT_LEAST = asked || 10_000
/** Enough for the naive one to be wrong many times. */
const FEW = 1_500

const folder = mkdtempSync(join(tmpdir(), 'm4a-fuzz-'))
const program = join(folder, 'attest-fuzz')
const compiler = Bun.which('gcc') ?? Bun.which('cc')

beforeAll(() => {
  if (compiler === null) return
  const built = Bun.spawnSync([compiler, '-O2', '-Wall', '-o', program, join(import.meta.dir, 'support/attest-fuzz.c')])
  if (!built.success) throw new Error(built.stderr.toString())
})
afterAll(() => rmSync(folder, { recursive: true }))

type Judged = { ok: true; pid: number; argv0: string | undefined } | { ok: false; kind: string }
/** What is asked as the request comes; what it gives is asked for the verdict when the door gets to that. */
type Judge = (peer: () => Endpoint | null, local: Endpoint) => () => Judged | Promise<Judged>

/** Everything that came of `connections` connections at a door with that judge. */
async function fuzz(judge: Judge, connections: number, seconds: number) {
  const named: Record<string, number> = {}
  const refused: Record<string, number> = {}
  const wrong: { query: string; what: string; judged: Judged }[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 5,
    async fetch(request, self) {
      const query = new URL(request.url).searchParams
      const what = query.get('m') ?? ''
      const verdict = judge(() => self.requestIP(request), { address: '127.0.0.1', port: self.port ?? 0 })
      // A door does other work before it asks, and then after it, so that the peer may be another one by then.
      if (Math.random() < 0.2) await Bun.sleep(Math.random() * 3)
      const judged = await verdict()
      const table = judged.ok ? named : refused
      const row = judged.ok ? what : judged.kind
      table[row] = (table[row] ?? 0) + 1
      if (judged.ok) {
        const argv0 = query.get('argv0')
        const right = String(judged.pid) === query.get('pid') && (!argv0 || judged.argv0 === argv0)
        if (!right || what === 'forked-after-proof') wrong.push({ query: query.toString(), what, judged })
      }
      return new Response('seen', { status: judged.ok ? 200 : 403 })
    },
  })
  const args = [server.port ?? 0, 48, 60, connections, seconds].map(String)
  const peers = Bun.spawn([program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const made = Number(await new Response(peers.stdout).text())
  await server.stop(true)
  return { made, named, refused, wrong }
}

const sum = (table: Record<string, number>) => Object.values(table).reduce((all, one) => all + one, 0)

/** The port is read early, and whoever has that port later is named: no second look, and the first holder will do. */
function naive(diag: SockDiag, scan: HolderScan): Judge {
  return (peer, local) => {
    const from = peer()
    return async () => {
      await Bun.sleep(2)
      if (from === null || diag.tcp(from.address, from.port, local.address, local.port) !== 'found')
        return { ok: false, kind: 'peer_gone' }
      const holder = scan.run([diag.inode]).holders[0]
      if (holder === undefined) return { ok: false, kind: 'no_holder' }
      return { ok: true, pid: holder.pid, argv0: firstWord(holder.pid) }
    }
  }
}

function firstWord(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0', 1)[0]
  } catch {
    return undefined // it has ended
  }
}

describe.if(process.platform === 'linux' && compiler !== null)('fuzz', () => {
  test(
    'nobody is ever taken for another process',
    async () => {
      const attestor = openAttestor()
      expect(await attestor.selfTest()).toEqual({ ok: true })
      const judge: Judge = (peer, local) => async () => {
        const verdict = await attestor.tcp(peer, local)
        if (!verdict.ok) return verdict
        return { ok: true, pid: verdict.process.pid, argv0: verdict.process.argv[0] }
      }
      const { made, named, refused, wrong } = await fuzz(judge, CONNECTIONS, SECONDS)
      attestor.close()
      const requests = sum(named) + sum(refused)
      process.stderr.write(`${made} connections, ${requests} requests, ${sum(named)} named, ${wrong.length} wrong\n`)

      expect(wrong.slice(0, 3)).toEqual([])
      expect(made).toBeGreaterThanOrEqual(AT_LEAST)
      const kinds = ['no_holder', 'peer_gone', 'shared_connection']
      expect(Object.keys(refused).filter((kind) => !kinds.includes(kind))).toEqual([])
      // Refusing everybody would be easy: whoever stays to hear the answer is named.
      for (const what of ['waits', 'kept', 'execed', 'forked', 'passed', 'passed-after-proof'])
        expect(named[what] ?? 0, what).toBeGreaterThan(0)
      expect(refused.shared_connection ?? 0).toBeGreaterThan(0)
    },
    (SECONDS + 30) * 1000,
  )

  test('the same processes lead a naive judge astray, by their ports alone', async () => {
    const diag = new SockDiag()
    const scan = new HolderScan()
    const { made, wrong } = await fuzz(naive(diag, scan), FEW, 30)
    diag.close()
    scan.close()
    // whoever shares or passes a connection is another matter: these are taken for the next user of their port
    const taken = wrong.filter(({ what }) => ['resets', 'closes', 'exits'].includes(what))
    process.stderr.write(`naive: ${made} connections, ${wrong.length} wrong, ${taken.length} by their ports\n`)
    expect(taken.length).toBeGreaterThan(0)
  }, 60_000)
})
