// Kimi Code's own server, `kimi web`, with one session that its user has begun in the browser: what the browser would ask, asked by us.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dig, type Json, text } from '../support/json.ts'
import type { Prepared } from './agent.ts'

const PATIENCE = 60_000

export type KimiWeb = Prepared & { pid: number; end(): Promise<void> }

export async function startKimiWeb(agent: Prepared, port: number): Promise<KimiWeb> {
  const [executable = ''] = agent.command
  const child = Bun.spawn([executable, 'web', '--no-open', '--port', String(port)], {
    cwd: agent.cwd,
    env: agent.env,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  child.exited.then((code) => agent.gone.abort(new Error(`kimi web ended with ${code}`)))
  const folder = join(agent.home, '.kimi-code')
  const instances = join(folder, 'server', 'instances')
  const isUp = () =>
    existsSync(join(folder, 'server.token')) && existsSync(instances) && readdirSync(instances).length > 0
  for (const end = performance.now() + PATIENCE; !isUp(); await Bun.sleep(50)) {
    agent.gone.signal.throwIfAborted()
    if (performance.now() > end) throw new Error('kimi web did not come up')
  }
  const record: Json = JSON.parse(readFileSync(join(instances, readdirSync(instances)[0] ?? ''), 'utf8'))
  const headers = {
    authorization: `Bearer ${readFileSync(join(folder, 'server.token'), 'utf8').trim()}`,
    'content-type': 'application/json',
  }
  const post = async (path: string, body: Json): Promise<Json> => {
    const url = `http://127.0.0.1:${dig(record, 'port')}/api/v1/sessions${path}`
    for (const end = performance.now() + PATIENCE; ; await Bun.sleep(100)) {
      const answer: Json = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }).then(
        (response) => response.json(),
        () => null,
      )
      if (dig(answer, 'code') === 0) return answer
      if (performance.now() > end) throw new Error(`kimi web: ${path}: ${JSON.stringify(answer)}`)
    }
  }
  const session = text(await post('', { metadata: { cwd: agent.cwd } }), 'data', 'id')
  const prompt = { content: [{ type: 'text', text: 'follow the script' }], model: 'scripted', permission_mode: 'yolo' }
  await post(`/${session}/prompts`, prompt)
  return {
    ...agent,
    pid: child.pid,
    async end() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
