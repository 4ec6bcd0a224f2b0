// A HOME on which `up` and `down` work: agent clients configured without a mailbox, our binary in front of it, and its files compared.
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type { ScriptedModel } from '../support/scripted-model.ts'
import { killHousehold, type Prepared, prepareAgent, type Running, startPrepared } from './agent.ts'
import { type AnyClient, clientExecutable } from './install.ts'
import { type Door, INSTALLED } from './recipe.ts'

const BINARY = join(import.meta.dir, '..', '..', 'dist', 'mail4agent')

/** A server that somebody else has in the client already, and that never starts. */
const OTHER: Door = { kind: 'stdio', command: ['/bin/false'], env: {} }

export type Ran = { code: number; out: string; err: string }

export type Home = {
  path: string
  binary: string
  /** Runs our binary as a person would in a terminal of this HOME: below no agent, whoever runs these tests. */
  m4a(...words: string[]): Promise<Ran>
  /** Writes the client's own configuration, with another MCP server in it. */
  prepare(client: AnyClient, options?: { hook?: string }): Promise<Prepared>
  start(agent: Prepared): Running
  /** Path → kind, mode and bytes of everything below, but for what the mailbox keeps itself. */
  snapshot(): Map<string, string>
  close(): Promise<void>
}

export async function makeHome(clients: readonly AnyClient[], model: ScriptedModel): Promise<Home> {
  const path = mkdtempSync(join(tmpdir(), 'm4a-home-'))
  const folders = await Promise.all(clients.map(async (client) => dirname(await clientExecutable(client))))
  const port = freePort()
  const env = { PATH: [...folders, process.env.PATH ?? ''].join(':'), HOME: path, USER: 'pat', M4A_PORT: String(port) }
  const agents: Prepared[] = []
  return {
    path,
    binary: BINARY,
    m4a: (...words) => detached([BINARY, ...words], env, path),
    async prepare(client, options = {}) {
      const agent = await prepareAgent(client, model, OTHER, { ...options, home: path, server: INSTALLED })
      agents.push(agent)
      return agent
    },
    start: startPrepared,
    snapshot: () => snapshot(path, join('.local', 'share')),
    async close() {
      await detached([BINARY, 'down', '--yes', '--purge'], env, path)
      killHousehold(path)
      for (const agent of agents) await agent.close()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

export function freePort(): number {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const { port } = server
  server.stop(true)
  return port ?? 0
}

let runs = 0

/** The first shell ends at once; the second waits until it has been reaped, so that its parent is another. */
async function detached(words: string[], env: Record<string, string>, cwd: string): Promise<Ran> {
  const file = join(tmpdir(), `m4a-run-${process.pid}-${runs++}`)
  const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  const work = `${quoted} >${file}.out 2>${file}.err </dev/null; echo $? >${file}.part; mv ${file}.part ${file}.code`
  const script = `p=$$; (while kill -0 $p 2>/dev/null; do sleep 0.02; done; ${work}) &`
  await Bun.spawn(['sh', '-c', script], { env, cwd, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).exited
  for (const end = performance.now() + 60_000; !(await Bun.file(`${file}.code`).exists()); await Bun.sleep(20))
    if (performance.now() > end) throw new Error(`${words.join(' ')} did not end`)
  const read = (ending: string) => readFileSync(`${file}.${ending}`, 'utf8')
  const ran = { code: Number(read('code')), out: read('out'), err: read('err') }
  for (const ending of ['code', 'out', 'err']) rmSync(`${file}.${ending}`)
  return ran
}

function snapshot(root: string, without: string): Map<string, string> {
  const seen = new Map<string, string>()
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const full = join(entry.parentPath, entry.name)
    const name = relative(root, full)
    if (name === '.local' || name.startsWith(without)) continue
    const mode = (lstatSync(full).mode & 0o7777).toString(8)
    if (entry.isSymbolicLink()) seen.set(name, `link ${readlinkSync(full)}`)
    else if (entry.isFile()) seen.set(name, `file ${mode} ${readFileSync(full).toString('base64')}`)
    else seen.set(name, `folder ${mode}`)
  }
  return seen
}
