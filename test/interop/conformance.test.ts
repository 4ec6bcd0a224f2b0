// The official MCP conformance suite against our door, once for each era, with the scenarios that a mailbox cannot pass named.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFixture } from './fixture.ts'

const SUITE = join(import.meta.dir, '../../node_modules/@modelcontextprotocol/conformance/dist/index.js')
let fixture: ReturnType<typeof startFixture>
const results = mkdtempSync(join(tmpdir(), 'm4a-conformance-'))

beforeAll(() => {
  fixture = startFixture()
})
afterAll(async () => {
  await fixture.stop()
  rmSync(results, { recursive: true, force: true })
})

// The suite exits with 1 both on a scenario that fails unexpectedly and on one in the baseline that passes.
test.each(['2025-11-25', '2026-07-28'])(
  'requirements of %s',
  async (revision) => {
    const child = Bun.spawn(
      [
        ...[process.execPath, SUITE, 'server', '--url', fixture.url, '--requirements', revision],
        ...['--expected-failures', join(import.meta.dir, `baseline.${revision}.yml`)],
        ...['-o', join(results, revision)],
      ],
      { cwd: results, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
    )
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    if ((await child.exited) !== 0) throw new Error(`${out.slice(-4000)}\n${err.slice(-2000)}`)
    expect(out).toContain('tools-call-simple-text')
  },
  120_000,
)
