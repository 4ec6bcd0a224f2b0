// One Codex process with several conversations: `codex app-server`, which an editor would drive over its standard streams.
import { dig, type Json, text } from '../support/json.ts'
import type { Prepared, Running } from './agent.ts'

/** Milliseconds that the server may take for an answer, or for the end of a turn. */
const PATIENCE = 60_000

export type AppServer = Omit<Running, 'finish'> & {
  /** Opens a conversation and gives its id. */
  thread(): Promise<string>
  /** One turn of that conversation, in which `work` is what the agent does. One at a time: all have the same model. */
  turn<T>(thread: string, work: () => Promise<T>): Promise<T>
}

export async function startAppServer(agent: Prepared): Promise<AppServer> {
  const [executable = ''] = agent.command
  const child = Bun.spawn([executable, 'app-server'], {
    cwd: agent.cwd,
    env: agent.env,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const answers = new Map<number, (answer: Json) => void>()
  const ended = new Map<string, () => void>()
  void eachLine(child.stdout, (line) => {
    const message: Json = JSON.parse(line)
    const id = dig(message, 'id')
    if (typeof id === 'number' && text(message, 'method') === '') answers.get(id)?.(message)
    if (text(message, 'method') === 'turn/completed') ended.get(text(message, 'params', 'threadId'))?.()
  })
  child.exited.then((code) => agent.gone.abort(new Error(`codex app-server ended with ${code}`)))

  const write = (message: Json) => {
    child.stdin.write(`${JSON.stringify(message)}\n`)
    child.stdin.flush()
  }
  let last = 0
  async function request(method: string, params: Json): Promise<Json> {
    const id = ++last
    const answer = new Promise<Json>((resolve) => answers.set(id, resolve))
    write({ id, method, params })
    const got = await inTime(method, answer)
    if (dig(got, 'error') !== undefined) throw new Error(`${method}: ${JSON.stringify(got)}`)
    return dig(got, 'result') ?? null
  }
  await request('initialize', { clientInfo: { name: 'test', title: null, version: '1' } })
  write({ method: 'initialized' })
  return {
    ...agent,
    pid: child.pid,
    async thread() {
      const policy = { approvalPolicy: 'never', sandbox: 'danger-full-access' }
      return text(await request('thread/start', { cwd: agent.cwd, ...policy }), 'thread', 'id')
    },
    async turn(thread, work) {
      const end = new Promise<void>((resolve) => ended.set(thread, resolve))
      await request('turn/start', { threadId: thread, input: [{ type: 'text', text: 'follow the script' }] })
      const done = await work()
      await agent.say('done')
      await inTime('the end of the turn', end)
      return done
    },
    async close() {
      child.kill('SIGKILL')
      await child.exited
      await agent.close()
    },
  }
}

async function inTime<T>(what: string, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`${what} did not come within ${PATIENCE} ms`)), PATIENCE)
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer))
}

async function eachLine(output: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of output) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take(line)
  }
}
