// Fifty thousand connections of processes that try to be taken for each other: the right process or a named refusal.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAttestor, type Verdict } from '../../src/attest/attestor.ts'

const CONNECTIONS = 50_000
/** Half a minute on two free cores; more only where others work too. */
const SECONDS = 240
const folder = mkdtempSync(join(tmpdir(), 'm4a-fuzz-'))
const program = join(folder, 'attest-fuzz')
const attestor = openAttestor()
const compiler = Bun.which('gcc') ?? Bun.which('cc')

beforeAll(() => {
  if (compiler === null) return
  const built = Bun.spawnSync([compiler, '-O2', '-Wall', '-o', program, join(import.meta.dir, 'support/attest-fuzz.c')])
  if (!built.success) throw new Error(built.stderr.toString())
})
afterAll(() => {
  attestor.close()
  rmSync(folder, { recursive: true })
})

test.if(process.platform === 'linux' && compiler !== null)(
  'nobody is ever taken for another process',
  async () => {
    expect(await attestor.selfTest()).toEqual({ ok: true })
    const named: Record<string, number> = {}
    const refused: Record<string, number> = {}
    const wrong: { query: string; verdict: Verdict }[] = []
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      idleTimeout: 5,
      async fetch(request, self) {
        const query = new URL(request.url).searchParams
        const what = query.get('m') ?? ''
        // A door does other work before it asks, and then after it, so that the peer may be another one by then.
        if (Math.random() < 0.2) await Bun.sleep(Math.random() * 3)
        const local = { address: '127.0.0.1', port: self.port ?? 0 }
        const verdict = await attestor.tcp(() => self.requestIP(request), local)
        const table = verdict.ok ? named : refused
        table[verdict.ok ? what : verdict.kind] = (table[verdict.ok ? what : verdict.kind] ?? 0) + 1
        if (verdict.ok) {
          const { pid, argv } = verdict.process
          const argv0 = query.get('argv0')
          const right = String(pid) === query.get('pid') && (!argv0 || argv[0] === argv0)
          if (!right || what === 'forked-after-proof') wrong.push({ query: query.toString(), verdict })
        }
        return new Response('seen', { status: verdict.ok ? 200 : 403 })
      },
    })
    const args = [server.port ?? 0, 48, 60, CONNECTIONS, SECONDS].map(String)
    const fuzz = Bun.spawn([program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    const made = Number(await new Response(fuzz.stdout).text())
    await server.stop(true)

    expect(wrong.slice(0, 3)).toEqual([])
    expect(made).toBeGreaterThanOrEqual(CONNECTIONS)
    expect(Object.keys(refused).toSorted()).toEqual(
      Object.keys(refused)
        .toSorted()
        .filter((kind) => ['no_holder', 'peer_gone', 'shared_connection'].includes(kind)),
    )
    // Refusing everybody would be easy: whoever stays to hear the answer is named.
    for (const what of ['waits', 'kept', 'execed', 'forked', 'passed', 'passed-after-proof'])
      expect(named[what] ?? 0, what).toBeGreaterThan(0)
    expect(refused.shared_connection ?? 0).toBeGreaterThan(0)
  },
  (SECONDS + 30) * 1000,
)
