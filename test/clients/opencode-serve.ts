// opencode without a screen, `opencode serve`, with one session that its user has begun in another client of it: what that would ask, asked by us.
import { type Json, text } from '../support/json.ts'
import type { Prepared } from './agent.ts'

const PATIENCE = 60_000

export type OpencodeServe = Prepared & { pid: number; end(): Promise<void> }

export async function startOpencodeServe(agent: Prepared, port: number): Promise<OpencodeServe> {
  const [executable = ''] = agent.command
  const child = Bun.spawn([executable, 'serve', '--hostname', '127.0.0.1', '--port', String(port)], {
    cwd: agent.cwd,
    env: agent.env,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  child.exited.then((code) => agent.gone.abort(new Error(`opencode serve ended with ${code}`)))
  const ask = (method: string, path: string, ms: number, body?: Json): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}/session${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      signal: AbortSignal.timeout(ms),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  // what is asked while it starts may never be answered
  const isUp = () =>
    ask('GET', '', 3_000).then(
      ({ ok }) => ok,
      () => false,
    )
  for (const end = performance.now() + PATIENCE; !(await isUp()); await Bun.sleep(100)) {
    agent.gone.signal.throwIfAborted()
    if (performance.now() > end) throw new Error('opencode serve did not come up')
  }
  const session: Json = await (await ask('POST', '', PATIENCE, {})).json()
  const prompt = { parts: [{ type: 'text', text: 'follow the script' }] }
  const taken = await ask('POST', `/${text(session, 'id')}/prompt_async`, PATIENCE, prompt)
  if (!taken.ok) throw new Error(`opencode serve: ${taken.status}`)
  return {
    ...agent,
    pid: child.pid,
    async end() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
